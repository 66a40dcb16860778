import { useEffect, useReducer } from 'preact/hooks'
import { TippingError } from '../../../sdk/client/errors.js'
import { readFromTab, removeFromTab, storeInTab } from '../../lib/tab-storage.js'
import type { WithdrawalAnswer } from '../answers.js'
import { call } from '../api.js'
import { useSession } from '../session.js'
import { advance, type Flow, type FlowEvent, initialFlow, isUnresolved, type SentWithdrawal } from './flow.js'

/** This tab stores a withdrawal here until it gets an answer. */
const storageKey = 'withdrawal'
/** Pauses before each repetition of the request; the last one repeats. */
const pausesMs = [0, 1000, 2000, 4000, 8000]

/** The state of the withdrawal form. Sends the withdrawal, and repeats the request until there is an answer. */
export function useWithdrawal(): { flow: Flow; dispatch: (event: FlowEvent) => void } {
  const { signIns } = useSession()
  const [flow, dispatch] = useReducer(advance, undefined, () =>
    initialFlow(readFromTab<SentWithdrawal>(storageKey), Date.now()),
  )
  const sent = isUnresolved(flow) ? flow.sent : undefined
  useEffect(() => {
    if (sent === undefined) {
      removeFromTab(storageKey)
      return
    }
    // Store before sending: a page that closes in between repeats this withdrawal instead of making a second one.
    storeInTab(storageKey, sent)
    const stop = new AbortController()
    let tries = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const attempt = (): void => {
      send(sent, stop.signal).then(
        (answer) => dispatch({ type: 'answered', answer }),
        (error: unknown) => {
          if (stop.signal.aborted) return
          dispatch(failureOf(error))
          // A definite failure leaves this step, and the cleanup below clears this timer.
          tries += 1
          timer = setTimeout(attempt, pausesMs[Math.min(tries, pausesMs.length - 1)])
        },
      )
    }
    attempt()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
    // A new sign-in repeats the request immediately.
  }, [sent, signIns])
  return { flow, dispatch }
}

function send({ key, body }: SentWithdrawal, signal: AbortSignal): Promise<WithdrawalAnswer> {
  return call<WithdrawalAnswer>('POST', '/payouts/withdraw', { body, idempotencyKey: key, signal })
}

function failureOf(error: unknown): Extract<FlowEvent, { type: 'failed' }> {
  const known = error instanceof TippingError
  return { type: 'failed', code: known ? error.code : 'unknown', reason: known ? error.message : '' }
}
