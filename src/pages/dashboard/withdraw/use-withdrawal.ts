import { useEffect, useReducer } from 'preact/hooks'
import { TippingError } from '../../../sdk/client/errors.js'
import { forget, recall, remember } from '../../lib/store.js'
import type { Granted } from '../answers.js'
import { call } from '../api.js'
import { useSession } from '../session.js'
import { advance, type Flow, type FlowEvent, isUnderway, type Sent, startOf } from './flow.js'

/** Where this tab keeps what it sent and has no answer to. */
const kept = 'withdrawal'
/** Waits before the same withdrawal is asked for again; the last one from then on. */
const pausesMs = [0, 1000, 2000, 4000, 8000]

/** The steps of a withdrawal, and the asking that belongs to them. */
export function useWithdrawal(): { flow: Flow; tell: (event: FlowEvent) => void } {
  const { entered } = useSession()
  const [flow, tell] = useReducer(advance, undefined, () => startOf(recall<Sent>(kept), Date.now()))
  const sent = isUnderway(flow) ? flow.sent : undefined
  useEffect(() => {
    if (sent === undefined) {
      forget(kept)
      return
    }
    // Kept before it is sent: a page that dies in between asks for the same withdrawal and for no other.
    remember(kept, sent)
    const stop = new AbortController()
    let tries = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = (): void => {
      send(sent, stop.signal).then(
        (granted) => tell({ type: 'answered', granted }),
        (error: unknown) => {
          if (stop.signal.aborted) return
          tell(failureOf(error))
          // When the failure was a clear one this is not reached: the effect ends with the step.
          tries += 1
          timer = setTimeout(ask, pausesMs[Math.min(tries, pausesMs.length - 1)])
        },
      )
    }
    ask()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
    // Somebody who signs in again asks at once.
  }, [sent, entered])
  return { flow, tell }
}

function send({ key, body }: Sent, signal: AbortSignal): Promise<Granted> {
  return call<Granted>('POST', '/payouts/withdraw', { body, idempotencyKey: key, signal })
}

function failureOf(error: unknown): Extract<FlowEvent, { type: 'failed' }> {
  const known = error instanceof TippingError
  return { type: 'failed', code: known ? error.code : 'unknown', reason: known ? error.message : '' }
}
