import { typedCents } from '../../lib/amount-text.js'
import type { ListedTip, Refund } from '../answers.js'

type NairaTip = Pick<
  ListedTip,
  'status' | 'amount' | 'receivedAmount' | 'refundedAmount' | 'disputed' | 'fiatDetails'
>

const cents = (dollars: number): number => Math.round(dollars * 100)

export function leftCents({ amount, refundedAmount = 0 }: NairaTip): number {
  return cents(amount) - cents(refundedAmount)
}

export function isRefundable(tip: NairaTip): boolean {
  return tip.status === 'confirmed' && tip.fiatDetails !== null && !tip.disputed && leftCents(tip) > 0
}

/** What has been given back, or is on its way, in dollars. What has failed is not. */
export function givenBack(refunds: readonly Pick<Refund, 'status' | 'amountUSD'>[]): number {
  const sum = refunds
    .filter(({ status }) => status !== 'failed')
    .reduce((total, { amountUSD }) => total + cents(amountUSD), 0)
  return sum / 100
}

/** What a refund of so many cents is likely to move. The service counts exactly, in the naira that were paid. */
export function estimateRefund(
  { amount, receivedAmount, fiatDetails }: NairaTip,
  wantedCents: number,
): { readonly leavesUsd: number; readonly payerNgn: number } {
  const share = wantedCents / cents(amount)
  return {
    leavesUsd: Math.round((receivedAmount ?? 0) * share * 1e6) / 1e6,
    payerNgn: Math.ceil(Math.round((fiatDetails?.amountNgn ?? 0) * share * 1e4) / 100) / 100,
  }
}

/** The cents that were typed, or why they cannot be given back, as an error code of the dashboard. */
export function refundCents(text: string, tip: NairaTip): number | 'invalid_number' | 'refund_too_much' {
  const typed = typedCents(text)
  if (typed === undefined || typed === 0) return 'invalid_number'
  return typed > leftCents(tip) ? 'refund_too_much' : typed
}
