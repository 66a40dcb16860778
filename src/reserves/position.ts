import type { Knex } from 'knex'
import type { Currency, PlatformAccountKind } from '../ledger/accounts.js'
import { sumBooks } from '../ledger/invariants.js'
import { rateDecimals } from '../ports/exchange-rates.js'

/** What the ledger says in one snapshot: micro-USDC and kobo. What the platform has is above zero here. */
export interface Position {
  readonly usdc: {
    readonly custody: bigint
    readonly inTransit: bigint
    readonly treasury: bigint
    readonly receivables: bigint
  }
  readonly ngn: {
    readonly float: bigint
    /** What payers paid and the provider has not added to our balance yet. */
    readonly collections: bigint
    /** From a sale or the owners, on its way to the float. */
    readonly inTransit: bigint
  }
  readonly owed: {
    readonly available: bigint
    readonly pending: bigint
    readonly held: bigint
    /** Naira that no charge explains. */
    readonly suspense: bigint
  }
  /** What the provider charged us, in kobo. */
  readonly providerFees: bigint
  readonly revenue: Readonly<Record<Currency, bigint>>
  readonly equity: Readonly<Record<Currency, bigint>>
  /** What creators gave in one currency for the other, at the rates of that time: above zero was taken in. */
  readonly exchanged: Readonly<Record<Currency, bigint>>
}

/** Reads every entry. `statementMs`: time limit of one statement, instead of the pool's. */
export async function readPosition(db: Knex, statementMs?: number): Promise<Position> {
  const sums = new Map<string, bigint>()
  for (const { kind, currency, units } of await sumBooks(db, 0n, statementMs)) {
    sums.set(`${kind} ${currency}`, BigInt(units))
  }
  const sum = (kind: string, currency: Currency): bigint => sums.get(`${kind} ${currency}`) ?? 0n
  const asset = (kind: PlatformAccountKind, currency: Currency): bigint => -sum(kind, currency)
  return {
    usdc: {
      custody: asset('custody_wallets', 'USDC'),
      inTransit: asset('in_transit', 'USDC'),
      treasury: asset('treasury', 'USDC'),
      receivables: asset('receivables', 'USDC'),
    },
    ngn: {
      float: asset('float_ngn', 'NGN'),
      collections: asset('collections_receivable', 'NGN'),
      inTransit: asset('in_transit', 'NGN'),
    },
    owed: {
      available: sum('available', 'USDC'),
      pending: sum('pending', 'USDC'),
      held: sum('held', 'USDC'),
      suspense: sum('suspense', 'NGN'),
    },
    providerFees: asset('provider_fees', 'NGN'),
    revenue: { USDC: sum('platform_fee', 'USDC'), NGN: sum('platform_fee', 'NGN') },
    equity: { USDC: sum('equity', 'USDC'), NGN: sum('equity', 'NGN') },
    exchanged: { USDC: sum('fx', 'USDC'), NGN: sum('fx', 'NGN') },
  }
}

/** What creators are owed, in micro-USDC. */
export function owedMicro({ owed }: Pick<Position, 'owed'>): bigint {
  return owed.available + owed.pending + owed.held
}

/** Base units of a rate (naira for one dollar, 10^-8) times micro-USDC, over this, are kobo. */
const rateScale = 10n ** BigInt(rateDecimals + 4)

/** The kobo that micro-USDC are worth, rounded down. */
export function koboOf(micro: bigint, rate: bigint): bigint {
  const kobo = (micro * rate) / rateScale
  return kobo * rateScale > micro * rate ? kobo - 1n : kobo
}

/** What is owed in one currency and held in the other. */
export interface Exposure {
  /** USDC owed beyond the USDC that the platform has. Below zero: it has more. */
  readonly micro: bigint
  /** What they cost at the rate; undefined without one. */
  readonly kobo: bigint | undefined
  /** The naira that are there for it: all naira less what suspense owes. */
  readonly naira: bigint
}

/** `usdc`, `naira`: what the platform has. */
export function exposureOf(
  position: Pick<Position, 'owed'>,
  { usdc, naira }: { readonly usdc: bigint; readonly naira: bigint },
  rate: bigint | undefined,
): Exposure {
  const micro = owedMicro(position) - usdc
  return {
    micro,
    kobo: rate === undefined ? undefined : koboOf(micro, rate),
    naira: naira - position.owed.suspense,
  }
}
