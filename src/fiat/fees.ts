import { displayNumber, divideHalfUp } from '../kernel/money.js'
import { rateDecimals } from '../ports/exchange-rates.js'

/** What the naira charge is computed from. `net`: the amount less the platform's fee. `gross`: the amount. */
export type ChargeBasis = 'net' | 'gross'

/** The platform's fee: 5 % of the amount (docs/decisions/0017). */
const feePercent = 5n
const rateUnit = 10n ** BigInt(rateDecimals)
/** Converts kobo at a rate to micro-USDC and back: the rate's unit, times 10^6 micro-USDC, divided by 10^2 kobo. */
export const microScale = rateUnit * 10n ** 4n

/** In cents of a US dollar, and kobo. */
export interface FiatPrice {
  readonly amountCents: bigint
  readonly feeCents: bigint
  /** What the creator receives. */
  readonly finalCents: bigint
  readonly chargeKobo: bigint
}

/**
 * Prices a fiat tip. The fee (5 %, rounded half up to the cent) is deducted first. Then the naira charge (rounded half up to
 * the kobo) is computed from the rest, or on the gross basis from the whole amount. `rate`: naira per dollar in units of
 * 10^-8. `givenKobo`: a charge that the caller gives instead.
 */
export function priceFiatTip(
  amountCents: bigint,
  rate: bigint,
  basis: ChargeBasis,
  givenKobo?: bigint,
): FiatPrice {
  const feeCents = divideHalfUp(amountCents * feePercent, 100n)
  const finalCents = amountCents - feeCents
  const chargedCents = basis === 'net' ? finalCents : amountCents
  return {
    amountCents,
    feeCents,
    finalCents,
    chargeKobo: givenKobo ?? divideHalfUp(chargedCents * rate, rateUnit),
  }
}

/** What a payment credits, in micro-USDC. */
export interface FiatCredit {
  readonly creditMicro: bigint
  /** The platform's share: the rest of the charge's value. */
  readonly revenueMicro: bigint
}

/**
 * What a paid charge credits: its value (kobo / rate, less the fee on the gross basis, rounded down), and at most the promised
 * amount. A charge that the caller gave therefore never credits more than its naira are value. A surplus over the charge does
 * not count here.
 */
export function computeCredit(
  { finalCents, chargeKobo }: Pick<FiatPrice, 'finalCents' | 'chargeKobo'>,
  rate: bigint,
  basis: ChargeBasis,
): FiatCredit {
  const value = valueOfKobo(chargeKobo, rate, basis)
  const promised = finalCents * 10_000n
  if (value.creditMicro <= promised) return value
  return { creditMicro: promised, revenueMicro: value.revenueMicro + value.creditMicro - promised }
}

/** The value of an amount of naira: the creator's share, rounded down, and the platform's share. */
export function valueOfKobo(kobo: bigint, rate: bigint, basis: ChargeBasis): FiatCredit {
  const share = basis === 'gross' ? 100n - feePercent : 100n
  const creditMicro = (kobo * microScale * share) / (rate * 100n)
  return { creditMicro, revenueMicro: (kobo * microScale) / rate - creditMicro }
}

/** The field `fiatDetails` of a fiat tip in the API. */
export interface FiatDetails {
  readonly platformFee: number
  readonly finalAmountUsd: number
  readonly amountNgn: number
}

export function presentFiatDetails({ feeCents, finalCents, chargeKobo }: FiatPrice): FiatDetails {
  return {
    platformFee: displayNumber(feeCents, 2),
    finalAmountUsd: displayNumber(finalCents, 2),
    amountNgn: displayNumber(chargeKobo, 2),
  }
}

/** The amounts that a credited tip shows. */
export interface CreditedAmounts {
  readonly amountCents: bigint
  readonly details: FiatDetails
}

/**
 * The requested amount if the credit equals the promised one to the cent (the charge was rounded to the kobo). Otherwise the
 * amount of which the credit is 95 %, at least one cent, so that no tip shows zero.
 */
export function presentCredit(price: FiatPrice, creditMicro: bigint): CreditedAmounts {
  const isFull = divideHalfUp(creditMicro, 10_000n) >= price.finalCents
  const amountFromCredit = divideHalfUp(creditMicro, 10_000n - feePercent * 100n)
  const amountCents = isFull ? price.amountCents : amountFromCredit > 0n ? amountFromCredit : 1n
  const feeCents = isFull ? price.feeCents : divideHalfUp(amountCents * feePercent, 100n)
  return {
    amountCents,
    details: {
      platformFee: displayNumber(feeCents, 2),
      finalAmountUsd: displayNumber(creditMicro, 6),
      amountNgn: displayNumber(price.chargeKobo, 2),
    },
  }
}
