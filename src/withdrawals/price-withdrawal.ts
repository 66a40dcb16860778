import { microScale } from '../fiat/fees.js'
import { baseUnits, divideHalfUp } from '../kernel/money.js'

const koboPerNaira = 100n
const usdcDecimals = 6
const koboDecimals = 2

/** The amount of a withdrawal, in base units of the currency in which the creator gave it. */
export type RequestedAmount =
  | { readonly currency: 'USDC'; readonly micro: bigint }
  | { readonly currency: 'NGN'; readonly kobo: bigint }

/** The one amount that was given, in base units. Undefined when none, both or an invalid one was given. */
export function parseAmount(amountUSDC: unknown, amountNGN: unknown): RequestedAmount | undefined {
  if ((amountUSDC === undefined) === (amountNGN === undefined)) return undefined
  const micro = baseUnits(amountUSDC, usdcDecimals)
  const kobo = baseUnits(amountNGN, koboDecimals)
  if (micro !== undefined) return { currency: 'USDC', micro }
  return kobo === undefined ? undefined : { currency: 'NGN', kobo }
}

/** The platform's fee: `feeBps` of the gross, at least `leastFeeNgn`. */
export interface WithdrawalFee {
  readonly leastFeeNgn: number
  readonly feeBps: number
}

/** `debitMicro`: micro-USDC that leave the balance. */
export interface WithdrawalPrice {
  readonly debitMicro: bigint
  readonly grossKobo: bigint
  readonly feeKobo: bigint
  /** What the bank account receives. Negative when the gross is below the least fee. */
  readonly netKobo: bigint
}

/**
 * Prices a withdrawal at a rate (naira per dollar, units of 10^-8). An amount in USDC gives its value as the gross, rounded
 * half up to the kobo. An amount in NGN is the gross itself; its USDC debit is rounded up. The fee is rounded, the net is
 * the rest.
 */
export function priceWithdrawal(amount: RequestedAmount, rate: bigint, fee: WithdrawalFee): WithdrawalPrice {
  const grossKobo = amount.currency === 'NGN' ? amount.kobo : divideHalfUp(amount.micro * rate, microScale)
  const debitMicro = amount.currency === 'USDC' ? amount.micro : (amount.kobo * microScale + rate - 1n) / rate
  const feeKobo = feeOf(grossKobo, fee)
  return { debitMicro, grossKobo, feeKobo, netKobo: grossKobo - feeKobo }
}

function feeOf(grossKobo: bigint, { leastFeeNgn, feeBps }: WithdrawalFee): bigint {
  const least = BigInt(leastFeeNgn) * koboPerNaira
  const share = divideHalfUp(grossKobo * BigInt(feeBps), 10_000n)
  return share > least ? share : least
}
