import { shortNgn } from '../../lib/money.js'
import { amountText, fiatSymbol } from '../../lib/tip-text.js'
import type { ListedTip } from '../answers.js'

/** What was paid: naira of a tip in naira, else the token's amount. */
export function paidText({ amount, tokenSymbol, fiatDetails }: ListedTip): string {
  return fiatDetails === null ? amountText(amount, tokenSymbol) : shortNgn(fiatDetails.amountNgn)
}

/** Whether a tip was paid on the chain. */
export function isOnChain({ tokenSymbol }: Pick<ListedTip, 'tokenSymbol'>): boolean {
  return tokenSymbol !== fiatSymbol
}
