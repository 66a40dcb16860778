import { microScale } from '../fiat/fees.js'
import { divideHalfUp } from '../kernel/money.js'

const koboPerNaira = 100n

/** What a creator asks for, in base units of its currency. */
export type RequestedAmount =
  | { readonly currency: 'USDC'; readonly micro: bigint }
  | { readonly currency: 'NGN'; readonly kobo: bigint }

/** The platform's fee: `feeBps` of the gross, at least `leastFeeNgn`. */
export interface WithdrawalFee {
  readonly leastFeeNgn: number
  readonly feeBps: number
}

/** A withdrawal priced: micro-USDC that leave the balance, and kobo. */
export interface WithdrawalPrice {
  readonly debitMicro: bigint
  readonly grossKobo: bigint
  readonly feeKobo: bigint
  /** What reaches the bank; may be negative for a gross below the least fee. */
  readonly netKobo: bigint
}

/**
 * Prices a withdrawal at a rate (naira for a dollar, units of 10^-8). The gross is what was asked for: of USDC its worth,
 * half up to the kobo; of NGN the amount itself, debited as USDC rounded up. The fee is rounded, the net is the rest.
 */
export function priceWithdrawal(asked: RequestedAmount, rate: bigint, fee: WithdrawalFee): WithdrawalPrice {
  const grossKobo = asked.currency === 'NGN' ? asked.kobo : divideHalfUp(asked.micro * rate, microScale)
  const debitMicro = asked.currency === 'USDC' ? asked.micro : (asked.kobo * microScale + rate - 1n) / rate
  const feeKobo = feeOf(grossKobo, fee)
  return { debitMicro, grossKobo, feeKobo, netKobo: grossKobo - feeKobo }
}

function feeOf(grossKobo: bigint, { leastFeeNgn, feeBps }: WithdrawalFee): bigint {
  const least = BigInt(leastFeeNgn) * koboPerNaira
  const share = divideHalfUp(grossKobo * BigInt(feeBps), 10_000n)
  return share > least ? share : least
}
