import { displayNumber, divideHalfUp, divideUp } from '../kernel/money.js'
import { rateDecimals } from '../ports/exchange-rates.js'

/** What the naira charge is computed from. `net`: the amount less the platform's fee. `gross`: the amount. */
export type ChargeBasis = 'net' | 'gross'

/** The platform's fee: 5 % of the amount (docs/decisions/0016). */
const feePercent = 5n
const rateUnit = 10n ** BigInt(rateDecimals)
/** Converts kobo at a rate to micro-USDC and back: the rate's unit, times 10^6 micro-USDC, divided by 10^2 kobo. */
export const microScale = rateUnit * 10n ** 4n
const microPerCent = 10_000n

/** In cents of a US dollar, and kobo. */
export interface FiatPrice {
  readonly amountCents: bigint
  readonly feeCents: bigint
  /** What the creator is promised. */
  readonly finalCents: bigint
  readonly chargeKobo: bigint
  /** The caller gave the charge: `amountNgn`. */
  readonly isChargeGiven: boolean
}

/**
 * Prices a fiat tip. The fee (5 %, rounded half up to the cent) is deducted first. Then the naira charge is computed from the
 * rest, or on the gross basis from the whole amount. It is rounded up to the kobo, so that who pays it pays for the whole
 * promise. `rate`: naira per dollar in units of 10^-8. `givenKobo`: a charge that the caller gives instead.
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
    chargeKobo: givenKobo ?? divideUp(chargedCents * rate, rateUnit),
    isChargeGiven: givenKobo !== undefined,
  }
}

/** What a payment credits, in micro-USDC. */
export interface FiatCredit {
  readonly creditMicro: bigint
  /** The platform's share: the rest of the payment's worth. */
  readonly revenueMicro: bigint
}

/** A payment to value. `kobo`: what counts of it, at most the charge. */
export interface ValuedPayment {
  readonly kobo: bigint
  readonly rate: bigint
  /** The rate with which the charge was computed. */
  readonly lockedRate: bigint
}

/**
 * What a payment credits (docs/decisions/0016): never more than it is worth. Worth is kobo / rate, less the fee on the gross
 * basis, rounded down to the micro. A charge that the service computed credits at most the promise, and all of it when it is
 * paid in full at the locked rate or a lower one. Of a charge that the caller gave, the worth up to the promise counts in
 * full, and of the rest the platform takes its fee.
 */
export function computeCredit(
  { finalCents, chargeKobo, isChargeGiven }: Omit<FiatPrice, 'amountCents' | 'feeCents'>,
  { kobo, rate, lockedRate }: ValuedPayment,
  basis: ChargeBasis,
): FiatCredit {
  const value = valueOfKobo(kobo, rate, basis)
  const total = value.creditMicro + value.revenueMicro
  const promised = finalCents * microPerCent
  let creditMicro: bigint
  if (!isChargeGiven) {
    // On the gross basis the fee in cents is up to half a cent less than 5 % of the worth.
    const worth = kobo >= chargeKobo && rate <= lockedRate ? total : value.creditMicro
    creditMicro = worth < promised ? worth : promised
  } else if (basis === 'gross' || value.creditMicro <= promised) creditMicro = value.creditMicro
  else creditMicro = promised + ((value.creditMicro - promised) * (100n - feePercent)) / 100n
  return { creditMicro, revenueMicro: total - creditMicro }
}

/** The worth of an amount of naira: the creator's share, rounded down, and the platform's share. */
export function valueOfKobo(kobo: bigint, rate: bigint, basis: ChargeBasis): FiatCredit {
  const share = basis === 'gross' ? 100n - feePercent : 100n
  const creditMicro = (kobo * microScale * share) / (rate * 100n)
  return { creditMicro, revenueMicro: (kobo * microScale) / rate - creditMicro }
}

/** What a payment credited: in naira, to its creator, and to the platform. */
export interface PaymentCredit {
  readonly creditedKobo: bigint
  readonly creatorMicro: bigint
  readonly feeMicro: bigint
}

/**
 * What a payment costs its creator when all of it goes back: what it credited, or what its naira cost at this rate, less the fee that
 * the platform gives up, whichever is more (docs/decisions/0067). Otherwise who pays, withdraws and has it back would choose the
 * rate of each at the platform's expense.
 */
export function costOfReturn(
  { creditedKobo, creatorMicro, feeMicro }: PaymentCredit,
  rate: bigint | undefined,
): bigint {
  const nowMicro = rate === undefined ? 0n : (creditedKobo * microScale) / rate - feeMicro
  return nowMicro > creatorMicro ? nowMicro : creatorMicro
}

/** The part of an amount that goes with these naira of a payment of which some are gone. Rounded down, so that parts add up to the whole. */
export function partOfReturn(
  micro: bigint,
  { creditedKobo, goneKobo }: { readonly creditedKobo: bigint; readonly goneKobo: bigint },
  kobo: bigint,
): bigint {
  return (micro * (goneKobo + kobo)) / creditedKobo - (micro * goneKobo) / creditedKobo
}

/**
 * The smallest and the largest charge in kobo that a caller may give: what the smallest tip is charged, and what the largest
 * tip is worth. Limits in micro-dollars. `slackBps`: the rate may move so far between the quote and the intent.
 */
export function givenChargeLimits(
  { minMicro, maxMicro }: { readonly minMicro: bigint; readonly maxMicro: bigint },
  rate: bigint,
  basis: ChargeBasis,
  slackBps: bigint,
): { readonly minKobo: bigint; readonly maxKobo: bigint } {
  const least = priceFiatTip(divideHalfUp(minMicro, microPerCent), rate, basis).chargeKobo
  return {
    minKobo: (least * (10_000n - slackBps)) / 10_000n,
    maxKobo: divideUp(maxMicro * rate * (10_000n + slackBps), microScale * 10_000n),
  }
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

export interface CreditedAmounts {
  readonly amountCents: bigint
  readonly details: FiatDetails
}

/**
 * The amounts of a credited tip; `kobo` is what counted of its payments. When the promise was credited to the cent, or more:
 * the requested amount, or what the naira are worth if that is more, and as the fee what the creator did not get of it. When
 * less was credited: the amount of which the credit is 95 %, at least one cent, so that no tip shows zero.
 */
export function amountsShown(
  price: FiatPrice,
  { creditMicro, revenueMicro }: FiatCredit,
  kobo: bigint,
): CreditedAmounts {
  const details = { finalAmountUsd: displayNumber(creditMicro, 6), amountNgn: displayNumber(kobo, 2) }
  if (divideHalfUp(creditMicro, microPerCent) >= price.finalCents) {
    const worthCents = divideHalfUp(creditMicro + revenueMicro, microPerCent)
    if (worthCents <= price.amountCents && creditMicro <= price.finalCents * microPerCent)
      return {
        amountCents: price.amountCents,
        details: { platformFee: displayNumber(price.feeCents, 2), ...details },
      }
    const amountCents = worthCents > price.amountCents ? worthCents : price.amountCents
    const feeMicro = amountCents * microPerCent - creditMicro
    return {
      amountCents,
      details: { platformFee: displayNumber(feeMicro > 0n ? feeMicro : 0n, 6), ...details },
    }
  }
  const amountFromCredit = divideHalfUp(creditMicro, microPerCent - feePercent * 100n)
  const amountCents = amountFromCredit > 0n ? amountFromCredit : 1n
  const feeCents = divideHalfUp(amountCents * feePercent, 100n)
  return { amountCents, details: { platformFee: displayNumber(feeCents, 2), ...details } }
}
