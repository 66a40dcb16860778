import { displayNumber } from '../../../src/kernel/money.js'
import { parseAmount, priceWithdrawal } from '../../../src/withdrawals/price-withdrawal.js'

/** Prices a withdrawal with the service's code and default fees. The rate is in hundredths of a naira. Returns USDC and NGN. */
export function expectedPrice(
  currency: 'USDC' | 'NGN',
  amount: string,
  rateCents: number,
): { readonly usdc: number; readonly netNgn: number } {
  const value = Number(amount)
  const requested = currency === 'USDC' ? parseAmount(value, undefined) : parseAmount(undefined, value)
  if (requested === undefined) throw new Error(`${amount} is not an amount`)
  const price = priceWithdrawal(requested, BigInt(rateCents) * 1_000_000n, { leastFeeNgn: 50, feeBps: 100 })
  return { usdc: displayNumber(price.debitMicro, 6), netNgn: displayNumber(price.netKobo, 2) }
}
