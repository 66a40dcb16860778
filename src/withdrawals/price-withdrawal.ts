import { microScale } from '../fiat/fees.js'
import { baseUnits, divideHalfUp, divideUp, picoDecimals } from '../kernel/money.js'

const koboPerNaira = 100n
/** Pico-units in a micro-USDC and in a kobo. */
const picoPerMicro = 10n ** 6n
const picoPerKobo = 10n ** 10n
/** A difference of 10^-9 comes from a client's floating-point arithmetic. */
const noisePico = 1000n

/**
 * The amount of a withdrawal, in base units of the currency in which the creator gave it, rounded down. `exactPico`: not
 * rounded, in units of 10^-12, for the comparison with the balance.
 */
export type RequestedAmount =
  | { readonly currency: 'USDC'; readonly micro: bigint; readonly exactPico: bigint }
  | { readonly currency: 'NGN'; readonly kobo: bigint }

/** The one amount that was given, in base units. Undefined when none, both or an invalid one was given. */
export function parseAmount(amountUSDC: unknown, amountNGN: unknown): RequestedAmount | undefined {
  if ((amountUSDC === undefined) === (amountNGN === undefined)) return undefined
  const exactPico = baseUnits(amountUSDC ?? amountNGN, picoDecimals)
  if (exactPico === undefined) return undefined
  if (amountUSDC === undefined) {
    const kobo = (exactPico + noisePico) / picoPerKobo
    return kobo === 0n ? undefined : { currency: 'NGN', kobo }
  }
  const micro = (exactPico + noisePico) / picoPerMicro
  return micro === 0n ? undefined : { currency: 'USDC', micro, exactPico }
}

/** Whether the amount, before it is rounded, is above the balance. */
export function exceedsBalance(
  { exactPico }: Extract<RequestedAmount, { currency: 'USDC' }>,
  availableMicro: bigint,
): boolean {
  return exactPico > availableMicro * picoPerMicro + noisePico
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
 * down to the kobo. An amount in NGN is the gross itself; its USDC debit is rounded up. The fee is rounded, the net is
 * the rest.
 */
export function priceWithdrawal(amount: RequestedAmount, rate: bigint, fee: WithdrawalFee): WithdrawalPrice {
  const grossKobo = amount.currency === 'NGN' ? amount.kobo : (amount.micro * rate) / microScale
  const debitMicro = amount.currency === 'USDC' ? amount.micro : divideUp(amount.kobo * microScale, rate)
  const feeKobo = feeOf(grossKobo, fee)
  return { debitMicro, grossKobo, feeKobo, netKobo: grossKobo - feeKobo }
}

/**
 * Prices a held withdrawal again at its release (docs/decisions/0016): its debit at the current rate, never above what was
 * promised, and the fee computed anew. Undefined: the promise stands.
 */
export function priceRelease(
  { debitMicro, grossKobo, netKobo }: Pick<WithdrawalPrice, 'debitMicro' | 'grossKobo' | 'netKobo'>,
  rate: bigint,
  fee: WithdrawalFee,
): Omit<WithdrawalPrice, 'debitMicro'> | undefined {
  const gross = (debitMicro * rate) / microScale
  if (gross >= grossKobo) return undefined
  const feeKobo = feeOf(gross, fee)
  // A fee that was lowered since must not raise the net above the promise.
  if (gross - feeKobo >= netKobo) return undefined
  return { grossKobo: gross, feeKobo, netKobo: gross - feeKobo }
}

/**
 * The price of a payout of which only the net is known: the gross whose fee leaves exactly that, and a debit rounded down, in the
 * creator's favour.
 */
export function priceOfNet(netKobo: bigint, rate: bigint, fee: WithdrawalFee): WithdrawalPrice {
  const byLeast = netKobo + feeOf(0n, fee)
  const byShare = (netKobo * 10_000n) / (10_000n - BigInt(fee.feeBps))
  const near = [byLeast, byShare, byShare + 1n, byShare - 1n]
  const grossKobo = near.find((gross) => gross - feeOf(gross, fee) === netKobo) ?? byShare
  return { debitMicro: (grossKobo * microScale) / rate, grossKobo, feeKobo: grossKobo - netKobo, netKobo }
}

function feeOf(grossKobo: bigint, { leastFeeNgn, feeBps }: WithdrawalFee): bigint {
  const least = BigInt(leastFeeNgn) * koboPerNaira
  const share = divideHalfUp(grossKobo * BigInt(feeBps), 10_000n)
  return share > least ? share : least
}

/**
 * Prices a withdrawal of which only `paidKobo` was paid, at its own rate. The fee shrinks with the paid amount and never exceeds
 * what is left of the gross. Fee and debit are rounded down, in the creator's favour. `paidKobo` is at most the gross.
 */
export function pricePaid(
  { debitMicro, grossKobo, feeKobo, netKobo }: WithdrawalPrice,
  paidKobo: bigint,
): WithdrawalPrice {
  const share = (feeKobo * paidKobo) / netKobo
  const rest = grossKobo - paidKobo
  const paidFee = share < rest ? share : rest
  const paidGross = paidKobo + paidFee
  return {
    debitMicro: (debitMicro * paidGross) / grossKobo,
    grossKobo: paidGross,
    feeKobo: paidFee,
    netKobo: paidKobo,
  }
}
