import { isUnclear, typedNumber } from '../../lib/amount-text.js'
import type { Draft, WithdrawalBody } from './flow.js'

/** What a withdrawal costs and when it is looked at, as the service told this page. */
export interface Terms {
  readonly leastFeeNgn: number
  readonly feeBps: number
  /** The least that may reach the bank. */
  readonly minNgn: number
  readonly identitySingleNgn: number
  readonly identityDailyNgn: number
}

/** What is expected of a withdrawal at a rate; the rate that counts is the one when it is confirmed. NGN and USDC. */
export interface Estimate {
  readonly usdc: number
  readonly grossNgn: number
  readonly feeNgn: number
  readonly netNgn: number
}

export function estimate(
  draft: Pick<Draft, 'currency' | 'amount'>,
  rate: number,
  terms: Terms,
): Estimate | undefined {
  const amount = amountOf(draft)
  if (amount === undefined) return undefined
  const grossNgn = kobo(draft.currency === 'NGN' ? amount : amount * rate)
  const feeNgn = Math.max(terms.leastFeeNgn, kobo((grossNgn * terms.feeBps) / 10_000))
  const usdc = draft.currency === 'USDC' ? amount : Math.ceil((amount / rate) * 1e6) / 1e6
  return { usdc, grossNgn, feeNgn, netNgn: kobo(grossNgn - feeNgn) }
}

/** Why an amount cannot be withdrawn, by the service's own codes; undefined when it may try. */
export function faultOf(
  draft: Pick<Draft, 'currency' | 'amount'>,
  rate: number | undefined,
  available: number,
  terms: Terms,
): 'unclear_number' | 'invalid_amount' | 'insufficient_balance' | 'amount_too_small' | undefined {
  const amount = amountOf(draft)
  if (amount === undefined) return isUnclear(draft.amount) ? 'unclear_number' : 'invalid_amount'
  if (rate === undefined)
    return draft.currency === 'USDC' && amount > available ? 'insufficient_balance' : undefined
  const expected = estimate(draft, rate, terms)
  if (expected === undefined) return 'invalid_amount'
  if (expected.usdc > available) return 'insufficient_balance'
  return expected.netNgn < terms.minNgn ? 'amount_too_small' : undefined
}

export function bodyOf(draft: Draft): WithdrawalBody {
  const { currency, bankCode, accountNumber, accountName } = draft
  const value = amountOf(draft)
  if (value === undefined) throw new Error('A withdrawal without an amount')
  const asked = currency === 'USDC' ? { amountUSDC: value } : { amountNGN: value }
  return { ...asked, bankCode, accountNumber, accountName }
}

/** Whether the name at the bank looks like the creator's: half of its words, in any order. */
export function looksAlike(bankName: string, name: string): boolean {
  const wordsOf = (text: string): string[] =>
    text
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 1)
  const own = wordsOf(name)
  const shared = new Set(wordsOf(bankName))
  const found = own.filter((word) => shared.has(word)).length
  return own.length > 0 && found >= Math.max(1, Math.ceil(own.length / 2))
}

function amountOf({ amount }: Pick<Draft, 'amount'>): number | undefined {
  const value = typedNumber(amount)
  return value !== undefined && value > 0 ? value : undefined
}

function kobo(ngn: number): number {
  return Math.round(ngn * 100) / 100
}
