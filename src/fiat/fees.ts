import { displayNumber, divideHalfUp } from '../kernel/money.js'
import { rateDecimals } from '../ports/exchange-rates.js'

/** What the naira total is made of: the amount less the platform's fee, or the amount. */
export type ChargeBasis = 'net' | 'gross'

/** Contract: 5 % of the amount. */
const feePercent = 5n
const rateUnit = 10n ** BigInt(rateDecimals)
/** From kobo over a rate in its units to micro-dollars, and back: 10^6 micros, 10^2 kobo. */
export const microScale = rateUnit * 10n ** 4n

/** A fiat tip priced: cents of a US dollar, and kobo. */
export interface FiatPrice {
  readonly amountCents: bigint
  readonly feeCents: bigint
  /** What the creator is to receive. */
  readonly finalCents: bigint
  readonly chargeKobo: bigint
}

/**
 * Prices a fiat tip in the contract's order: the fee (5 %, half up to the cent) is deducted first, then the naira
 * total is computed (half up to the kobo) from what is left, or from the amount on the gross basis. `rate`: naira for
 * a dollar in units of 10^-8. `givenKobo`: the caller's own charge instead.
 */
export function priceFiatTip(
  amountCents: bigint,
  rate: bigint,
  basis: ChargeBasis,
  givenKobo?: bigint,
): FiatPrice {
  const feeCents = divideHalfUp(amountCents * feePercent, 100n)
  const finalCents = amountCents - feeCents
  const charged = basis === 'net' ? finalCents : amountCents
  return {
    amountCents,
    feeCents,
    finalCents,
    chargeKobo: givenKobo ?? divideHalfUp(charged * rate, rateUnit),
  }
}

/** What a payment of a charge is worth, and to whom. Micro-USDC. */
export interface FiatCredit {
  readonly creditMicro: bigint
  /** The platform's: the rest of what the charge is worth. */
  readonly revenueMicro: bigint
}

/**
 * What a paid charge credits, whatever was said that it should: worth = kobo / rate, credit = the lesser of what was
 * promised and the worth (less the fee on the gross basis), rounded down. So an explicit charge of a few naira never
 * makes dollars. What exceeds the charge is not looked at here.
 */
export function creditOf(
  { finalCents, chargeKobo }: Pick<FiatPrice, 'finalCents' | 'chargeKobo'>,
  rate: bigint,
  basis: ChargeBasis,
): FiatCredit {
  const worth = worthOf(chargeKobo, rate, basis)
  const promised = finalCents * 10_000n
  if (worth.creditMicro <= promised) return worth
  return { creditMicro: promised, revenueMicro: worth.revenueMicro + worth.creditMicro - promised }
}

/** What so many naira are worth, whatever was promised: the creator's share, rounded down, and the platform's. */
export function worthOf(kobo: bigint, rate: bigint, basis: ChargeBasis): FiatCredit {
  const share = basis === 'gross' ? 100n - feePercent : 100n
  const creditMicro = (kobo * microScale * share) / (rate * 100n)
  return { creditMicro, revenueMicro: (kobo * microScale) / rate - creditMicro }
}

/** The USD figures of a fiat tip as lists show them (contract: fiatDetails). */
export interface FiatDetails {
  readonly platformFee: number
  readonly finalAmountUsd: number
  readonly amountNgn: number
}

export function detailsOf({ feeCents, finalCents, chargeKobo }: FiatPrice): FiatDetails {
  return {
    platformFee: displayNumber(feeCents, 2),
    finalAmountUsd: displayNumber(finalCents, 2),
    amountNgn: displayNumber(chargeKobo, 2),
  }
}

/** How a tip is shown once it is credited: the amount in cents, and its details. */
export interface CreditedView {
  readonly amountCents: bigint
  readonly details: FiatDetails
}

/**
 * What was asked for when all of it was credited (to the cent: the naira total was rounded to the kobo), else the
 * amount of which the credit is 95 %. At least a cent, so that a tip is never shown as nothing.
 */
export function viewOfCredit(price: FiatPrice, creditMicro: bigint): CreditedView {
  const whole = divideHalfUp(creditMicro, 10_000n) >= price.finalCents
  const less = divideHalfUp(creditMicro, 10_000n - feePercent * 100n)
  const amountCents = whole ? price.amountCents : less > 0n ? less : 1n
  const feeCents = whole ? price.feeCents : divideHalfUp(amountCents * feePercent, 100n)
  return {
    amountCents,
    details: {
      platformFee: displayNumber(feeCents, 2),
      finalAmountUsd: displayNumber(creditMicro, 6),
      amountNgn: displayNumber(price.chargeKobo, 2),
    },
  }
}
