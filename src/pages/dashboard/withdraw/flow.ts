import { type Currency, typedNumber } from '../../lib/amount-text.js'
import type { WithdrawalAnswer } from '../answers.js'

export interface Draft {
  readonly currency: 'USDC' | 'NGN'
  readonly amount: string
  readonly bankCode: string
  readonly bankName: string
  readonly accountNumber: string
  readonly accountName: string
  /** The withdrawal whose account is used again; empty: the fields above; undefined: not chosen yet. */
  readonly bankAccountOf?: string | undefined
}

/** A confirmed withdrawal. A request with the same idempotency key and body is the same withdrawal. */
export interface SentWithdrawal {
  readonly key: string
  readonly body: WithdrawalBody
  readonly draft: Draft
  /** Epoch milliseconds, by this browser's clock. */
  readonly at: number
}

export interface WithdrawalBody {
  readonly amountUSDC?: number
  readonly amountNGN?: number
  readonly bankCode?: string
  readonly accountNumber?: string
  readonly accountName?: string
  /** Instead of the three. */
  readonly bankAccountOf?: string
}

/** The steps that are filled in. Each is an entry of the browser's history. */
export type FormStep = 'amount' | 'bank' | 'review'

export type Flow =
  | {
      readonly step: FormStep
      readonly draft: Draft
      readonly fault?: string | undefined
    }
  | { readonly step: 'sending'; readonly sent: SentWithdrawal }
  /** No answer arrived: the withdrawal may exist. */
  | { readonly step: 'checking'; readonly sent: SentWithdrawal }
  | { readonly step: 'accepted'; readonly answer: WithdrawalAnswer }
  /** Refused by the provider; `reason` is its own text. Nothing was withdrawn. */
  | { readonly step: 'refused'; readonly draft: Draft; readonly reason: string }

export type FlowEvent =
  | { readonly type: 'completed-step'; readonly step: 'amount' | 'bank'; readonly draft: Draft }
  | { readonly type: 'edited'; readonly draft: Draft }
  | { readonly type: 'back' }
  | { readonly type: 'navigated'; readonly step: FormStep }
  | { readonly type: 'confirmed'; readonly sent: SentWithdrawal }
  | { readonly type: 'answered'; readonly answer: WithdrawalAnswer }
  | { readonly type: 'failed'; readonly code: string; readonly reason: string }
  | { readonly type: 'change-account' }
  | { readonly type: 'restart' }

export const emptyDraft: Draft = {
  currency: 'USDC',
  amount: '',
  bankCode: '',
  bankName: '',
  accountNumber: '',
  accountName: '',
}

/** After this time a sent withdrawal is not repeated. Far below the 24 h for which the service keeps idempotency keys. */
const retryWindowMs = 10 * 60_000

interface Kept {
  readonly sent?: SentWithdrawal | undefined
  readonly draft?: Partial<Draft> | undefined
  readonly step?: FormStep | undefined
}

/**
 * The first state after a page load. A withdrawal that an earlier load sent without getting an answer is sent again. One
 * that is too old for that shows a warning to check the history. Otherwise the form is as it was.
 */
export function initialFlow({ sent, draft: kept, step = 'amount' }: Kept, nowMs: number): Flow {
  const draft = kept === undefined ? emptyDraft : { ...emptyDraft, ...kept }
  if (sent === undefined) return { step: reachable(step, draft), draft }
  if (nowMs - sent.at < retryWindowMs) return { step: 'checking', sent }
  return { step: 'amount', draft: emptyDraft, fault: 'withdrawal_unknown' }
}

/** The amount as a number; undefined when it is none, is unclear or names another currency. */
export function amountOf({ currency, amount }: Pick<Draft, 'currency' | 'amount'>): number | undefined {
  const value = typedNumber(amount, typedCurrency(currency))
  return value !== undefined && value > 0 ? value : undefined
}

/** The currency that a number without a sign is in. */
export function typedCurrency(currency: Draft['currency']): Currency {
  return currency === 'USDC' ? 'USD' : 'NGN'
}

/** The step, or the last one before it that is not complete. */
function reachable(step: FormStep, draft: Draft): FormStep {
  if (step === 'amount' || amountOf(draft) === undefined) return 'amount'
  return step === 'review' && hasAccount(draft) ? 'review' : 'bank'
}

/** Whether the bank account is complete, as the bank or the creator named it. A used one's number is masked. */
export function hasAccount({ bankCode, accountNumber, accountName }: Draft): boolean {
  return bankCode !== '' && accountNumber.length === 10 && accountName.trim().length > 1
}

/** The step whose entry of the browser's history is shown. Undefined: the form is over. */
export function formStepOf({ step }: Flow): FormStep | undefined {
  if (step === 'accepted') return undefined
  return step === 'amount' || step === 'bank' ? step : 'review'
}

/** Returns the next state. An event that does not fit the state changes nothing, because answers may come late. */
export function advanceFlow(flow: Flow, event: FlowEvent): Flow {
  return isUnresolved(flow) ? advanceSent(flow, event) : advanceDraft(flow, event)
}

function advanceSent(flow: Extract<Flow, { sent: SentWithdrawal }>, event: FlowEvent): Flow {
  if (event.type === 'answered') return { step: 'accepted', answer: event.answer }
  return event.type === 'failed' ? afterFailure(flow.sent, event) : flow
}

function advanceDraft(flow: Exclude<Flow, { sent: SentWithdrawal }>, event: FlowEvent): Flow {
  if (event.type === 'restart') return { step: 'amount', draft: emptyDraft }
  if (flow.step === 'accepted') return flow
  if (event.type === 'navigated') return navigate(flow, event.step)
  if (flow.step === 'refused')
    return event.type === 'change-account' ? { step: 'bank', draft: flow.draft } : flow
  if (event.type === 'edited') return { step: flow.step, draft: event.draft }
  if (event.type === 'back') return { step: previousStep[flow.step], draft: flow.draft }
  if (event.type === 'confirmed' && flow.step === 'review') return { step: 'sending', sent: event.sent }
  if (event.type === 'completed-step' && flow.step === event.step)
    return { step: event.step === 'amount' ? 'bank' : 'review', draft: event.draft }
  return flow
}

/** Back and Forward show what is filled in so far. */
function navigate(flow: Extract<Flow, { draft: Draft }>, wanted: FormStep): Flow {
  const step = reachable(wanted, flow.draft)
  return step === formStepOf(flow) ? flow : { step, draft: flow.draft }
}

const previousStep = { amount: 'amount', bank: 'amount', review: 'bank' } as const

export function isUnresolved(flow: Flow): flow is Extract<Flow, { sent: SentWithdrawal }> {
  return flow.step === 'sending' || flow.step === 'checking'
}

/** The step that each refusal leads back to. The service answers these codes only before money is reserved. */
const stepForRefusal: Readonly<Record<string, FormStep>> = {
  invalid_amount: 'amount',
  insufficient_balance: 'amount',
  bank_details_required: 'bank',
  rate_unavailable: 'review',
  too_many_requests: 'review',
  forbidden: 'review',
  invalid_idempotency_key: 'review',
  idempotency_key_reused: 'review',
}

function afterFailure(sent: SentWithdrawal, { code, reason }: { code: string; reason: string }): Flow {
  if (code === 'payout_refused') return { step: 'refused', draft: sent.draft, reason }
  const step = stepForRefusal[code]
  return step === undefined ? { step: 'checking', sent } : { step, draft: sent.draft, fault: code }
}
