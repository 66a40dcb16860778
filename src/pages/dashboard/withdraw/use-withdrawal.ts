import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { TippingError } from '../../../sdk/client/errors.js'
import { readFromTab, removeFromTab, storeInTab } from '../../lib/browser.js'
import { untilAnswered } from '../../lib/failures.js'
import { StepHistory } from '../../lib/step-history.js'
import type { WithdrawalAnswer } from '../answers.js'
import { call } from '../api.js'
import { go, pathOf } from '../route.js'
import { useSession } from '../session.js'
import {
  advanceFlow,
  type Draft,
  emptyDraft,
  type Flow,
  type FlowEvent,
  type FormStep,
  formStepOf,
  initialFlow,
  isUnresolved,
  type SentWithdrawal,
} from './flow.js'

/** Pauses before each repetition of the request; the last one repeats. */
const pausesMs = [1000, 2000, 4000, 8000]

/** The withdrawal's form: repeats its request until it is answered, and keeps steps and draft in history and tab. */
export function useWithdrawal(): { flow: Flow; dispatch: (event: FlowEvent) => void } {
  const { me, signIns } = useSession()
  const [steps] = useState(() => new StepHistory<FormStep>(false))
  const [flow, setFlow] = useState(() =>
    initialFlow({ sent: readSent(me.id), draft: readDraft(me.id), step: steps.begin() }, Date.now()),
  )
  const current = useRef(flow)
  const show = useCallback(
    (next: Flow, navigated: boolean): void => {
      current.current = next
      setFlow(next)
      keepDraft(me.id, next)
      const step = formStepOf(next)
      if (step !== undefined && isForm()) steps.show(step, navigated)
    },
    [me.id, steps],
  )
  const dispatch = useCallback(
    (event: FlowEvent): void => {
      // A refusal is not hidden behind the progress of another withdrawal.
      if (event.type === 'failed' && !isForm()) go('withdraw')
      show(advanceFlow(current.current, event), event.type === 'navigated')
    },
    [show],
  )
  useEffect(() => {
    if ('fault' in current.current && !isForm()) go('withdraw')
    show(current.current, true)
    return steps.follow((step = 'amount') => {
      if (isForm()) dispatch({ type: 'navigated', step })
    })
  }, [dispatch, show, steps])
  const sent = isUnresolved(flow) ? flow.sent : undefined
  useEffect(() => {
    if (sent === undefined) {
      keepSent(me.id, undefined)
      return
    }
    // Store before sending: a page that closes in between repeats this withdrawal instead of making a second one.
    keepSent(me.id, sent)
    const stop = new AbortController()
    const { signal } = stop
    untilAnswered(() => requestWithdrawal(sent, signal), {
      pausesMs,
      mayRepeat(error) {
        dispatch(failureOf(error))
        // A definite failure leaves this step, which ends the pause.
        return true
      },
      signal,
    }).then(
      (answer) => dispatch({ type: 'answered', answer }),
      () => undefined,
    )
    return () => stop.abort()
    // A new sign-in repeats the request immediately.
  }, [sent, signIns, me.id, dispatch])
  return { flow, dispatch }
}

/** Whether the address is the form's, and not that of a withdrawal's progress or of another screen. */
function isForm(): boolean {
  return location.pathname + location.search === pathOf('withdraw')
}

function requestWithdrawal({ key, body }: SentWithdrawal, signal: AbortSignal): Promise<WithdrawalAnswer> {
  return call<WithdrawalAnswer>('POST', '/payouts/withdraw', { body, idempotencyKey: key, signal })
}

function failureOf(error: unknown): Extract<FlowEvent, { type: 'failed' }> {
  const known = error instanceof TippingError
  return { type: 'failed', code: known ? error.code : 'unknown', reason: known ? error.message : '' }
}

/** Only this tab stores account numbers, for the creator who typed them, until the withdrawal is made or they sign out. */
const draftKey = (userId: string) => `withdrawal-draft:${userId}`
/** A withdrawal is stored here until it gets an answer. */
const sentKey = (userId: string) => `withdrawal:${userId}`

function readDraft(userId: string): Partial<Draft> | undefined {
  return readFromTab(draftKey(userId))
}

/** Stores what is filled in, so that a reload loses nothing. Without a draft, or with an empty one, nothing stays stored. */
function keepDraft(userId: string, flow: Flow): void {
  if ('draft' in flow && flow.draft !== emptyDraft) storeInTab(draftKey(userId), flow.draft)
  else removeFromTab(draftKey(userId))
}

function readSent(userId: string): SentWithdrawal | undefined {
  return readFromTab(sentKey(userId))
}

function keepSent(userId: string, sent: SentWithdrawal | undefined): void {
  if (sent === undefined) removeFromTab(sentKey(userId))
  else storeInTab(sentKey(userId), sent)
}

/** At sign-out. Of a withdrawal without an answer only the warning to look for it stays. */
export function forgetAccounts(userId: string): void {
  removeFromTab(draftKey(userId))
  if (readSent(userId) !== undefined) storeInTab(sentKey(userId), { at: 0 })
}
