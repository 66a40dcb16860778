import { displayNumber } from '../../src/kernel/money.js'
import { priceWithdrawal } from '../../src/withdrawals/price-withdrawal.js'
import { parseAmount } from '../../src/withdrawals/request/parse-amount.js'

/** What the service makes of a withdrawal at a rate in hundredths of a naira, with its default fees. USDC and NGN. */
export function feeOf(
  currency: 'USDC' | 'NGN',
  amount: string,
  rateCents: number,
): { readonly usdc: number; readonly netNgn: number } {
  const value = Number(amount)
  const asked = currency === 'USDC' ? parseAmount(value, undefined) : parseAmount(undefined, value)
  if (asked === undefined) throw new Error(`${amount} is no amount`)
  const price = priceWithdrawal(asked, BigInt(rateCents) * 1_000_000n, { leastFeeNgn: 50, feeBps: 100 })
  return { usdc: displayNumber(price.debitMicro, 6), netNgn: displayNumber(price.netKobo, 2) }
}
