import { typedCents } from '../../lib/amount-text.js'
import type { ListedTip, Refund } from '../answers.js'

type NairaTip = Pick<
  ListedTip,
  'status' | 'amount' | 'receivedAmount' | 'refundedAmount' | 'disputed' | 'fiatDetails'
>

const cents = (dollars: number): number => Math.round(dollars * 100)

function leftCents({ amount, refundedAmount = 0 }: NairaTip): number {
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

/** Kobo that are left of what was paid. Exact where all that is gone was given back here. */
export function leftKobo(
  tip: NairaTip,
  refunds: readonly Pick<Refund, 'status' | 'amountUSD' | 'amountNGN'>[],
): number {
  const paid = cents(tip.fiatDetails?.amountNgn ?? 0)
  if (cents(givenBack(refunds)) !== cents(tip.refundedAmount ?? 0))
    return Math.floor((paid * leftCents(tip)) / cents(tip.amount))
  const gone = refunds.filter(({ status }) => status !== 'failed').map(({ amountNGN }) => cents(amountNGN))
  return gone.reduce((left, kobo) => left - kobo, paid)
}

/** What a refund of so many kobo is likely to take from the balance, in dollars. The service counts exactly. */
export function estimateRefund({ receivedAmount, fiatDetails }: NairaTip, kobo: number): number {
  const share = kobo / cents(fiatDetails?.amountNgn ?? 0)
  return Math.round((receivedAmount ?? 0) * share * 1e6) / 1e6
}

/** The kobo that were typed, or why they cannot be given back, as an error code of the dashboard. */
export function refundKobo(text: string, left: number): number | 'invalid_number' | 'refund_too_much' {
  const typed = typedCents(text, 'NGN')
  if (typed === undefined || typed === 0) return 'invalid_number'
  return typed > left ? 'refund_too_much' : typed
}
