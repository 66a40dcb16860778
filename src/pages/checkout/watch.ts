import { pause } from '../../sdk/client/pause.js'
import type { TipIntent } from '../../sdk/client/tip.js'
import { blockHeight, sendTransaction, transactionStatus } from '../lib/rpc.js'
import type { Event } from './machine/events.js'
import { chainPauseMs, nairaPauseMs, stillLooked } from './machine/pauses.js'
import type { Payment } from './machine/state.js'
import type { TipService } from './service.js'

type Dispatch = (event: Event) => void

const resendMs = 2000
const secondLookMs = 5000

/** Asks the service where the payment stands until told to stop. */
export async function watchPayment(
  service: TipService,
  { intentId }: Payment,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<void> {
  for (let nth = 0; !signal.aborted; nth++) {
    await pause(chainPauseMs(nth), signal)
    const intent = await service.intent(intentId).catch(() => undefined)
    if (intent !== undefined && !signal.aborted) dispatch({ type: 'watched', intent })
  }
}

/** Asks the service for anything paid in this session, here or elsewhere. */
export async function watchSession(
  service: TipService,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<void> {
  for (let nth = 0; !signal.aborted; nth++) {
    await pause(chainPauseMs(nth), signal)
    const intents = await service.intents().catch(() => undefined)
    if (intents !== undefined && !signal.aborted) dispatch({ type: 'listed', intents })
  }
}

/**
 * Sends the same bytes again until the chain has them or cannot take them any more. That it cannot takes two looks,
 * five seconds apart, past the last height: only then may somebody be told that nothing was paid.
 */
export async function followOnChain(
  url: string,
  { intentId, lastValidBlockHeight }: Pick<TipIntent, 'intentId' | 'lastValidBlockHeight'>,
  signature: string,
  signed: Uint8Array,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<void> {
  for (let looksPast = 0; !signal.aborted; ) {
    await pause(looksPast > 0 ? secondLookMs : resendMs, signal)
    try {
      const height = await blockHeight(url)
      const status = await transactionStatus(url, signature)
      if (status !== 'none') return dispatch({ type: 'landed', intentId, failed: status === 'failed' })
      looksPast = height > lastValidBlockHeight ? looksPast + 1 : 0
      if (looksPast === 2) return dispatch({ type: 'unlanded', intentId })
      if (looksPast === 0) await sendTransaction(url, signed, true)
    } catch {
      // The endpoint is away or refuses a repetition: the next round looks again.
    }
  }
}

/** Asks how a naira payment stands, while somebody looks and at once when they look again. */
export async function watchNaira(
  service: TipService,
  intentId: string,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<void> {
  const began = Date.now()
  let over: number | undefined
  for (;;) {
    const status = await service.nairaStatus(intentId).catch(() => undefined)
    if (signal.aborted) return
    if (status !== undefined) dispatch({ type: 'naira-status', intentId, status })
    if (status === 'completed' || status === 'failed') return
    if (status === 'cancelled') over ??= Date.now()
    if (over !== undefined && !stillLooked(Date.now() - over)) return
    await pauseOrSeen(nairaPauseMs(Date.now() - began), signal)
  }
}

/** Waits, at most so long; longer while nobody looks, and no longer once somebody does. */
async function pauseOrSeen(ms: number, signal: AbortSignal): Promise<void> {
  const seen = new AbortController()
  const see = (): void => {
    if (document.visibilityState === 'visible') seen.abort()
  }
  document.addEventListener('visibilitychange', see)
  try {
    await pause(ms, AbortSignal.any([signal, seen.signal]))
    if (document.visibilityState === 'hidden')
      await pause(60 * 60_000, AbortSignal.any([signal, seen.signal]))
  } catch (error) {
    if (signal.aborted) throw error
  } finally {
    document.removeEventListener('visibilitychange', see)
  }
}
