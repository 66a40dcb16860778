import type { CreatorSettings } from '../creators/settings.js'
import { DomainError, inputError } from '../kernel/errors.js'
import { baseUnits, basisPoints, centsWorth, microDecimals, microWorth, unitsFor } from '../kernel/money.js'
import { solMint, type Token } from '../kernel/tokens.js'
import { rentExemptLamports, type TransferAccounts } from '../ports/chain.js'

/** An SPL amount is a u64. */
const maxUnits = 2n ** 64n - 1n

const isPositive = 'must be a finite positive number that the token can hold'

/** The amount in the request: base units of the token, or micro-dollars. */
export type RequestedAmount = { readonly units: bigint } | { readonly usdMicro: bigint }

/** Parses `amount` and `amountUsd`. `amountUsd` takes precedence. Throws `invalid_amount`. */
export function parseTipAmount(amount: unknown, amountUsd: unknown, token: Token): RequestedAmount {
  if (amountUsd !== undefined) {
    const usdMicro = baseUnits(amountUsd, microDecimals)
    if (usdMicro === undefined) throw inputError('invalid_amount', 'amountUsd', isPositive)
    return { usdMicro }
  }
  const units = baseUnits(amount, token.decimals)
  if (units === undefined || units > maxUnits) throw inputError('invalid_amount', 'amount', isPositive)
  return { units }
}

/** The limits of a tip's value in USD: the service's limits, narrowed by the creator's. */
export interface TipLimits {
  readonly minUsd: number
  readonly maxUsd: number
}

export function tipLimitsFor(service: TipLimits, creator: CreatorSettings): TipLimits {
  return {
    minUsd: Math.max(service.minUsd, creator.minTipUsd ?? 0),
    maxUsd: Math.min(service.maxUsd, creator.maxTipUsd ?? Number.POSITIVE_INFINITY),
  }
}

const presetsUsd = [2, 5, 10, 25]

/** The amounts that a page or a wallet suggests: those that the limits allow. */
export function presetsFor({ minUsd, maxUsd }: TipLimits): number[] {
  return presetsUsd.filter((usd) => usd >= minUsd && usd <= maxUsd)
}

/** The amount of a tip before the fee, in base units, and its value in cents (0n when the token has no price). */
export interface GrossAmount {
  readonly units: bigint
  readonly usdCents: bigint
}

/**
 * Checks the limits for an amount requested in USD. It is checked as requested: no price is needed, and a conversion to
 * base units and back could miss a limit by rounding. Throws `invalid_amount`.
 */
export function checkUsdLimits(requested: RequestedAmount, limits: TipLimits): void {
  if ('usdMicro' in requested && !isWithin(requested.usdMicro, limits)) throw outsideLimits(requested, limits)
}

/**
 * The requested amount at the live price. Checks the limits for an amount requested in the token; a token without a price
 * has no limits. Throws `invalid_amount` outside the limits, and `no_price` for an amount in USD when there is no price.
 */
export function grossAmount(
  requested: RequestedAmount,
  token: Token,
  price: bigint | undefined,
  limits: TipLimits,
): GrossAmount {
  if (price === undefined) {
    if ('usdMicro' in requested) throw new DomainError('no_price')
    return { units: requested.units, usdCents: 0n }
  }
  const units =
    'usdMicro' in requested ? unitsFor(requested.usdMicro, token.decimals, price) : requested.units
  const isInLimits = 'usdMicro' in requested || isWithin(microWorth(units, token.decimals, price), limits)
  if (units === 0n || units > maxUnits || !isInLimits) throw outsideLimits(requested, limits)
  return { units, usdCents: centsWorth(units, token.decimals, price) }
}

function outsideLimits(requested: RequestedAmount, { minUsd, maxUsd }: TipLimits): DomainError {
  const field = 'usdMicro' in requested ? 'amountUsd' : 'amount'
  return inputError('invalid_amount', field, `must be worth from ${minUsd} to ${maxUsd} USD`)
}

function isWithin(usdMicro: bigint, { minUsd, maxUsd }: TipLimits): boolean {
  const micro = (usd: number): bigint => BigInt(Math.round(usd * 10 ** microDecimals))
  return usdMicro >= micro(minUsd) && (maxUsd === Number.POSITIVE_INFINITY || usdMicro <= micro(maxUsd))
}

/** The two transfers of a direct tip, in base units. `fee` is 0n when the fee transfer is left out. */
export interface TransferAmounts {
  readonly net: bigint
  readonly fee: bigint
  /** A fee was due, but the treasury cannot receive it. An operator should prepare the treasury for the token. */
  readonly feeLeftOut: boolean
}

/**
 * Splits a direct tip: fee = floor(gross x rate), net = the rest (docs/decisions/0013). A fee transfer fails when the
 * treasury stays below the rent exemption or has no token account, and with it the whole tip. It is then left out, and
 * the creator gets the whole amount. Throws `amount_below_minimum` when the recipient would stay below the rent
 * exemption.
 */
export function splitFee(
  gross: bigint,
  feeBps: number,
  token: Token,
  accounts: TransferAccounts,
): TransferAmounts {
  const due = basisPoints(gross, feeBps)
  const canReceiveFee =
    token.mint === solMint
      ? accounts.treasuryLamports + due >= rentExemptLamports
      : accounts.treasuryTokenAccount
  const fee = canReceiveFee ? due : 0n
  const net = gross - fee
  if (token.mint === solMint && accounts.recipientLamports + net < rentExemptLamports)
    throw new DomainError('amount_below_minimum')
  return { net, fee, feeLeftOut: due > fee }
}
