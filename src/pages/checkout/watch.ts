import type { FiatStatusAnswer } from '../../fiat/schemas.js'
import type { TipIntent } from '../../sdk/client/tip.js'
import { pause } from '../../sdk/client/wait.js'
import { blockHeight, sendTransaction, transactionStatus } from '../lib/rpc.js'
import type { Event } from './machine/events.js'
import type { TipService } from './service.js'

/** Seconds before each status request of a crypto payment; the last value repeats. */
const chainPausesSeconds = [1, 1, 2, 3, 5]
const nairaSeconds = 5
const nairaLaterSeconds = 10
const nairaQuickMs = 5 * 60_000
/** Money may arrive after the intent has expired: polling continues for so long. */
const latePollingMs = 30 * 60_000

/** After so long the page says that a sent payment is slow. */
export const slowSentMs = 20_000

function chainPauseMs(nth: number): number {
  return (chainPausesSeconds[nth] ?? chainPausesSeconds.at(-1) ?? 1) * 1000
}

function nairaPauseMs(sinceMs: number): number {
  return (sinceMs < nairaQuickMs ? nairaSeconds : nairaLaterSeconds) * 1000
}

function isStillPolled(expiredSinceMs: number): boolean {
  return expiredSinceMs < latePollingMs
}

/** Also ends the polling of what may arrive late. */
export function lateSignal(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(latePollingMs)])
}

type Dispatch = (event: Event) => void

const resendMs = 2000
const secondCheckMs = 5000

/** Asks until it is aborted, and dispatches each answer. */
export async function poll(
  ask: () => Promise<Event>,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<undefined> {
  for (let nth = 0; !signal.aborted; nth++) {
    await pause(chainPauseMs(nth), signal)
    const event = await ask().catch(() => undefined)
    if (event !== undefined && !signal.aborted) dispatch(event)
  }
}

/**
 * Sends the same bytes again until the transaction has landed or can no longer land. It can no longer land when two checks,
 * five seconds apart, find no transaction after the last valid block height.
 */
export async function resendUntilDecided(
  url: string,
  { intentId, lastValidBlockHeight }: Pick<TipIntent, 'intentId' | 'lastValidBlockHeight'>,
  signature: string,
  signed: Uint8Array,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<void> {
  for (let checksPastHeight = 0; !signal.aborted; ) {
    await pause(checksPastHeight > 0 ? secondCheckMs : resendMs, signal)
    try {
      const height = await blockHeight(url)
      const status = await transactionStatus(url, signature)
      if (status !== 'none') return dispatch({ type: 'landed', intentId, failed: status === 'failed' })
      checksPastHeight = height > lastValidBlockHeight ? checksPastHeight + 1 : 0
      if (checksPastHeight === 2) return dispatch({ type: 'not-landed', intentId })
      if (checksPastHeight === 0) await sendTransaction(url, signed, true)
    } catch {
      // The endpoint is unavailable or refused the repetition: the next round checks again.
    }
  }
}

/** Polls the status of a naira payment while the page is visible, and immediately when it becomes visible again. */
export async function watchNaira(
  service: TipService,
  intentId: string,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<undefined> {
  const startedAt = Date.now()
  let expiredAt: number | undefined
  for (;;) {
    const { status, receivedNgn } = await service
      .nairaStatus(intentId)
      .catch((): Partial<FiatStatusAnswer> => ({}))
    if (signal.aborted) return
    if (status !== undefined) dispatch({ type: 'naira-status', intentId, status, receivedNgn })
    if (status === 'completed' || status === 'failed') return
    if (status === 'cancelled') expiredAt ??= Date.now()
    if (expiredAt !== undefined && !isStillPolled(Date.now() - expiredAt)) return
    await pauseWhileVisible(nairaPauseMs(Date.now() - startedAt), signal)
  }
}

/** Waits `ms`, or an hour while the page is hidden. Becoming visible ends the wait. */
async function pauseWhileVisible(ms: number, signal: AbortSignal): Promise<void> {
  const visible = new AbortController()
  const onVisibilityChange = (): void => {
    if (document.visibilityState === 'visible') visible.abort()
  }
  document.addEventListener('visibilitychange', onVisibilityChange)
  try {
    await pause(ms, AbortSignal.any([signal, visible.signal]))
    if (document.visibilityState === 'hidden')
      await pause(60 * 60_000, AbortSignal.any([signal, visible.signal]))
  } catch (error) {
    if (signal.aborted) throw error
  } finally {
    document.removeEventListener('visibilitychange', onVisibilityChange)
  }
}
