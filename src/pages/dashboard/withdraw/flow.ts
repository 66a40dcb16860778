import type { Granted } from '../answers.js'

/** What somebody wants withdrawn, as far as it is said. */
export interface Draft {
  readonly currency: 'USDC' | 'NGN'
  /** As it was typed. */
  readonly amount: string
  readonly bankCode: string
  readonly bankName: string
  readonly accountNumber: string
  readonly accountName: string
}

/** A withdrawal that was confirmed: the same key and body again are the same withdrawal. */
export interface Sent {
  readonly key: string
  readonly body: WithdrawalBody
  readonly draft: Draft
  /** Epoch milliseconds, by the clock of this browser. */
  readonly at: number
}

export interface WithdrawalBody {
  readonly amountUSDC?: number
  readonly amountNGN?: number
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
}

export type Flow =
  | {
      readonly step: 'amount' | 'bank' | 'review'
      readonly draft: Draft
      readonly fault?: string | undefined
    }
  | { readonly step: 'sending'; readonly sent: Sent }
  /** No answer came: the money may be on its way. */
  | { readonly step: 'checking'; readonly sent: Sent }
  | { readonly step: 'granted'; readonly granted: Granted }
  /** By the bank's or the provider's side, in its own words. Nothing was withdrawn. */
  | { readonly step: 'refused'; readonly draft: Draft; readonly reason: string }

export type FlowEvent =
  | { readonly type: 'said'; readonly step: 'amount' | 'bank'; readonly draft: Draft }
  | { readonly type: 'back' }
  | { readonly type: 'confirmed'; readonly sent: Sent }
  | { readonly type: 'answered'; readonly granted: Granted }
  | { readonly type: 'failed'; readonly code: string; readonly reason: string }
  | { readonly type: 'again' }
  | { readonly type: 'restart' }

export const emptyDraft: Draft = {
  currency: 'USDC',
  amount: '',
  bankCode: '',
  bankName: '',
  accountNumber: '',
  accountName: '',
}

/** For so long what was confirmed is still what somebody wants; far below the service's memory of keys, 24 h. */
const stillWantedMs = 10 * 60_000

/**
 * Where a page load begins: with what an earlier one sent and never heard of, else at the first step. What is too old to
 * be asked for again is told, for its maker to look for in the history.
 */
export function startOf(sent: Sent | undefined, nowMs: number): Flow {
  if (sent === undefined) return { step: 'amount', draft: emptyDraft }
  if (nowMs - sent.at < stillWantedMs) return { step: 'checking', sent }
  return { step: 'amount', draft: emptyDraft, fault: 'withdrawal_unknown' }
}

/** The next state. What does not fit the state changes nothing: answers may come late. */
export function advance(flow: Flow, event: FlowEvent): Flow {
  return isUnderway(flow) ? whileUnderway(flow, event) : whileAsked(flow, event)
}

function whileUnderway(flow: Extract<Flow, { sent: Sent }>, event: FlowEvent): Flow {
  if (event.type === 'answered') return { step: 'granted', granted: event.granted }
  return event.type === 'failed' ? afterFailure(flow.sent, event) : flow
}

function whileAsked(flow: Exclude<Flow, { sent: Sent }>, event: FlowEvent): Flow {
  if (event.type === 'restart') return { step: 'amount', draft: emptyDraft }
  if (flow.step === 'granted') return flow
  if (flow.step === 'refused') return event.type === 'again' ? { step: 'bank', draft: flow.draft } : flow
  if (event.type === 'back') return { step: before[flow.step], draft: flow.draft }
  if (event.type === 'confirmed' && flow.step === 'review') return { step: 'sending', sent: event.sent }
  if (event.type === 'said' && flow.step === event.step)
    return { step: event.step === 'amount' ? 'bank' : 'review', draft: event.draft }
  return flow
}

const before = { amount: 'amount', bank: 'amount', review: 'bank' } as const

/** Whether a withdrawal was sent of which nothing certain is known. */
export function isUnderway(flow: Flow): flow is Extract<Flow, { sent: Sent }> {
  return flow.step === 'sending' || flow.step === 'checking'
}

/** To which step each refusal leads back: none of them is answered once money is reserved (decisions of the service). */
const backTo: Readonly<Record<string, 'amount' | 'bank' | 'review'>> = {
  invalid_amount: 'amount',
  insufficient_balance: 'amount',
  bank_details_required: 'bank',
  rate_unavailable: 'review',
  too_many_requests: 'review',
  forbidden: 'review',
  invalid_idempotency_key: 'review',
  idempotency_key_reused: 'review',
}

function afterFailure(sent: Sent, { code, reason }: { code: string; reason: string }): Flow {
  if (code === 'payout_refused') return { step: 'refused', draft: sent.draft, reason }
  const step = backTo[code]
  return step === undefined ? { step: 'checking', sent } : { step, draft: sent.draft, fault: code }
}
