import { isUnclear, namedCurrency } from '../../lib/amount-text.js'
import { ngn, usd } from '../../lib/money.js'
import type { Bank, HeldFor, Payout } from '../answers.js'
import { amountOf, type Draft, typedCurrency, type WithdrawalBody } from './flow.js'

export interface Terms {
  readonly leastFeeNgn: number
  readonly feeBps: number
  readonly minNgn: number
  readonly identitySingleNgn: number
  readonly identityDailyNgn: number
}

/** An estimate at the current rate. The service fixes the rate when the withdrawal is confirmed. */
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
  const grossNgn = wholeKobo(draft.currency === 'NGN' ? amount : amount * rate)
  const feeNgn = Math.max(terms.leastFeeNgn, kobo((grossNgn * terms.feeBps) / 10_000))
  const usdc = draft.currency === 'USDC' ? amount : Math.ceil((amount / rate) * 1e6) / 1e6
  return { usdc, grossNgn, feeNgn, netNgn: kobo(grossNgn - feeNgn) }
}

/** What leaves the balance: in the currency that was asked for, and in the other one. The fee is part of it. */
export function withdrawnTexts(
  { currency }: Pick<Draft, 'currency'>,
  { usdc, grossNgn }: Estimate,
): readonly [asked: string, other: string] {
  return currency === 'USDC' ? [usd(usdc), ngn(grossNgn)] : [ngn(grossNgn), usd(usdc)]
}

/** Why an amount cannot be withdrawn, as an error code; undefined when it can be sent to the service. */
export function faultOf(
  draft: Pick<Draft, 'currency' | 'amount'>,
  rate: number | undefined,
  available: number,
  terms: Terms,
):
  | 'unclear_number'
  | 'other_currency'
  | 'invalid_amount'
  | 'insufficient_balance'
  | 'amount_too_small'
  | undefined {
  const amount = amountOf(draft)
  const currency = typedCurrency(draft.currency)
  if (amount === undefined) {
    if (isUnclear(draft.amount, currency)) return 'unclear_number'
    return (namedCurrency(draft.amount) ?? currency) === currency ? 'invalid_amount' : 'other_currency'
  }
  if (rate === undefined)
    return draft.currency === 'USDC' && amount > available ? 'insufficient_balance' : undefined
  const expected = estimate(draft, rate, terms)
  if (expected === undefined) return 'invalid_amount'
  if (expected.usdc > available) return 'insufficient_balance'
  return expected.netNgn < terms.minNgn ? 'amount_too_small' : undefined
}

export function bodyOf(draft: Draft): WithdrawalBody {
  const { currency, bankCode, accountNumber, accountName, bankAccountOf } = draft
  const value = amountOf(draft)
  if (value === undefined) throw new Error('A withdrawal without an amount')
  const requested = currency === 'USDC' ? { amountUSDC: value } : { amountNGN: value }
  if (bankAccountOf) return { ...requested, bankAccountOf }
  return { ...requested, bankCode, accountNumber, accountName }
}

/** Whether the account holder's name contains at least half of the words of the creator's name, in any order. */
export function namesMatch(bankName: string, name: string): boolean {
  const wordsOf = (text: string): string[] =>
    text
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 1)
  const own = wordsOf(name)
  const holder = new Set(wordsOf(bankName))
  const found = own.filter((word) => holder.has(word)).length
  return own.length > 0 && found >= Math.max(1, Math.ceil(own.length / 2))
}

/** Rounds down, as the service does; the small term makes up for floating-point arithmetic. */
function wholeKobo(ngn: number): number {
  return Math.floor(ngn * 100 + 1e-6) / 100
}

function kobo(ngn: number): number {
  return Math.round(ngn * 100) / 100
}

/** `••••6789` of an account number, which may be masked already. */
export function lastDigits(accountNumber: string): string {
  return accountNumber.slice(-4).padStart(8, '•')
}

type accountTextProps = Pick<Payout, 'bankName' | 'bankCode' | 'accountNumber'>

export function accountText({ bankName, bankCode, accountNumber }: accountTextProps): string {
  return `${bankName ?? bankCode} ${lastDigits(accountNumber)}`
}

type promisedMoreProps = Pick<Payout, 'status' | 'amountNGN' | 'promisedNGN'>

/** Whether less is sent than was promised at the request. A failed withdrawal sends nothing. */
export function promisedMore({ status, amountNGN, promisedNGN }: promisedMoreProps): boolean {
  return status !== 'failed' && amountNGN < promisedNGN
}

/** What a withdrawal waits for. One that is over waits for nothing. */
export function holdOf({ status, heldFor }: Pick<Payout, 'status' | 'heldFor'>): HeldFor | undefined {
  return status === 'pending' ? (heldFor ?? undefined) : undefined
}

/** Whether its creator took it back: then nothing has gone wrong. */
export function isCancelled({ status, failureReason }: Pick<Payout, 'status' | 'failureReason'>): boolean {
  return status === 'failed' && failureReason === 'Cancelled by the creator'
}

const maxShown = 8

/** Banks of whose name or nicknames each word of the text is a part. */
export function matchingBanks(banks: readonly Bank[], text: string): readonly Bank[] {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = ({ name, nicknames }: Bank): boolean => {
    const texts = [name, ...nicknames].join('\n').toLowerCase()
    return parts.every((part) => texts.includes(part))
  }
  return banks.filter(fits).slice(0, parts.length === 0 ? banks.length : maxShown)
}
