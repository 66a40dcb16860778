import type { CreatorSettings } from '../creators/settings.js'
import { DomainError } from '../kernel/errors.js'
import { baseUnits, basisPoints, centsWorth, microDecimals, microWorth, unitsFor } from '../kernel/money.js'
import { solMint, type Token } from '../kernel/tokens.js'
import { rentExemptLamports, type TransferAccounts } from '../ports/chain.js'

/** An SPL amount is a u64. */
const mostUnits = 2n ** 64n - 1n

/** What the supporter asked to give: so much of a token, or so many micro-dollars of it. */
export type RequestedAmount = { readonly units: bigint } | { readonly usdMicro: bigint }

/** Reads `amount` and `amountUsd`; the latter wins. Throws `invalid_amount`. */
export function parseTipAmount(amount: unknown, amountUsd: unknown, token: Token): RequestedAmount {
  if (amountUsd !== undefined) {
    const usdMicro = baseUnits(amountUsd, microDecimals)
    if (usdMicro === undefined) throw new DomainError('invalid_amount')
    return { usdMicro }
  }
  const units = baseUnits(amount, token.decimals)
  if (units === undefined || units > mostUnits) throw new DomainError('invalid_amount')
  return { units }
}

/** What a tip may be worth, in USD: the service's bounds, narrowed by the creator's own. */
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

/** The tip in base units and what it is worth in cents (0n when the token has no price). */
export interface Gross {
  readonly units: bigint
  readonly usdCents: bigint
}

/**
 * Holds an amount asked in USD to the bounds as it was asked: no price is needed for it, and converting it to units
 * and back may miss a bound by a hair. Throws `invalid_amount`.
 */
export function checkUsdLimits(asked: RequestedAmount, bounds: TipLimits): void {
  if ('usdMicro' in asked && !isWithin(asked.usdMicro, bounds)) throw new DomainError('invalid_amount')
}

/**
 * Values the asked amount at the live price and holds a token amount to the bounds. A token without a price has no
 * bounds; asked for in USD it cannot be converted: `no_price`. Throws `invalid_amount` out of bounds.
 */
export function grossAmount(
  asked: RequestedAmount,
  token: Token,
  price: bigint | undefined,
  bounds: TipLimits,
): Gross {
  if (price === undefined) {
    if ('usdMicro' in asked) throw new DomainError('no_price')
    return { units: asked.units, usdCents: 0n }
  }
  const units = 'usdMicro' in asked ? unitsFor(asked.usdMicro, token.decimals, price) : asked.units
  const inBounds = 'usdMicro' in asked || isWithin(microWorth(units, token.decimals, price), bounds)
  if (units === 0n || units > mostUnits || !inBounds) throw new DomainError('invalid_amount')
  return { units, usdCents: centsWorth(units, token.decimals, price) }
}

function isWithin(usdMicro: bigint, { minUsd, maxUsd }: TipLimits): boolean {
  const micro = (usd: number): bigint => BigInt(Math.round(usd * 10 ** microDecimals))
  return usdMicro >= micro(minUsd) && (maxUsd === Number.POSITIVE_INFINITY || usdMicro <= micro(maxUsd))
}

/** The two legs of a direct transfer, base units. `fee` is 0n when the leg is left out. */
export interface TransferAmounts {
  readonly net: bigint
  readonly fee: bigint
  /** A fee was due but its leg could not land; an operator should look after the treasury. */
  readonly feeLeftOut: boolean
}

/**
 * Splits a direct transfer: fee = floor(gross x rate), net = the rest. A fee transfer that could not land (treasury
 * below rent, its token account missing) would fail the whole tip, so it is left out and the creator gets all.
 * Throws `amount_below_minimum` when the recipient would not hold enough to exist.
 */
export function splitFee(
  gross: bigint,
  feeBps: number,
  token: Token,
  accounts: TransferAccounts,
): TransferAmounts {
  const due = basisPoints(gross, feeBps)
  const lands =
    token.mint === solMint
      ? accounts.treasuryLamports + due >= rentExemptLamports
      : accounts.treasuryTokenAccount
  const fee = lands ? due : 0n
  const net = gross - fee
  if (token.mint === solMint && accounts.recipientLamports + net < rentExemptLamports)
    throw new DomainError('amount_below_minimum')
  return { net, fee, feeLeftOut: due > fee }
}
