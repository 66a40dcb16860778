import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/** What the ledger counts in: micro-USDC and kobo, whole numbers. */
export type Currency = 'USDC' | 'NGN'

/** `pending`: confirmed on the chain, not final yet. `held`: reserved for a withdrawal. */
export type UserAccountKind = 'available' | 'pending' | 'held'

/** What the platform has, owes and earns. What it has carries a minus: an asset of 5 is a balance of -5. */
export type PlatformAccountKind =
  // What it has.
  | 'custody_wallets'
  | 'in_transit'
  | 'treasury'
  | 'float_ngn'
  | 'collections_receivable'
  | 'receivables'
  // What it owes besides creators' balances, and what it spends, earns and exchanges.
  | 'suspense'
  | 'provider_fees'
  | 'platform_fee'
  | 'fx'
  | 'equity'

/** An account, named by its purpose. The first transfer that needs a user's account opens it. */
export interface LedgerAccount<C extends Currency = Currency> {
  /** Null: an account of the platform. */
  readonly userId: string | null
  readonly kind: UserAccountKind | PlatformAccountKind
  readonly currency: C
}

/** One side of a transfer: base units of the account's currency, positive into the account. */
export interface Entry<C extends Currency = Currency> {
  readonly account: LedgerAccount<C>
  readonly amount: bigint
}

export function userAccount<C extends Currency>(
  userId: string,
  kind: UserAccountKind,
  currency: C,
): LedgerAccount<C> {
  return { userId, kind, currency }
}

export function platformAccount<C extends Currency>(
  kind: PlatformAccountKind,
  currency: C,
): LedgerAccount<C> {
  return { userId: null, kind, currency }
}

/** The two entries that move an amount from one account to another of the same currency. */
export function transferEntries<C extends Currency>(
  amount: bigint,
  from: LedgerAccount<C>,
  to: LedgerAccount<NoInfer<C>>,
): Entry[] {
  return [
    { account: from, amount: -amount },
    { account: to, amount },
  ]
}

/** Equal for the same account, and only then. User ids come in upper and lower case. */
export function accountKey({ userId, kind, currency }: LedgerAccount): string {
  return `${userId?.toLowerCase() ?? 'platform'} ${kind} ${currency}`
}

/** Base units. */
export type Balance = Readonly<Record<UserAccountKind, bigint>>

/** A user's balances in one currency. An account that was never used has zero. */
export async function readBalance(db: Knex, userId: string, currency: Currency): Promise<Balance> {
  const rows = await query<{ kind: UserAccountKind; balance: bigint }>(db, {
    name: 'ledger.balance',
    text: 'select kind, balance from ledger_accounts where user_id = $1 and currency = $2',
    values: [userId, currency],
  })
  const of = (kind: UserAccountKind) => rows.find((row) => row.kind === kind)?.balance ?? 0n
  return { available: of('available'), pending: of('pending'), held: of('held') }
}

interface AccountBalance {
  readonly kind: UserAccountKind
  readonly currency: Currency
  readonly balance: bigint
}

/** A user's balances in every currency. Nothing is posted to these accounts until the transaction ends. */
export async function lockBalances(trx: Knex, userId: string): Promise<AccountBalance[]> {
  return query(trx, {
    name: 'ledger.lock-balances',
    text: /* sql */ `
      select kind, currency, balance from ledger_accounts where user_id = $1 order by id for no key update`,
    values: [userId],
  })
}

/** As `lockBalances`, for several users. One statement, in the order of the accounts' ids, as every posting locks them. */
export async function lockBalancesOf(trx: Knex.Transaction, userIds: readonly string[]): Promise<void> {
  await query(trx, {
    name: 'ledger.lock-balances-of',
    text: 'select 1 from ledger_accounts where user_id = any($1::uuid[]) order by id for no key update',
    values: [userIds],
  })
}
