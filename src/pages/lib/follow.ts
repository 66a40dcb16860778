import { TippingError } from '../../sdk/client/errors.js'
import type { ServerSentEvent } from '../../sdk/client/sse-parser.js'
import { type StreamedTip, streamEvents, tipOf } from '../../sdk/client/stream.js'
import { pause } from '../../sdk/client/wait.js'

export interface FollowOptions {
  readonly path: string
  /** The stream starts after this event. Called again for every new connection. */
  readonly lastEventId: () => string | undefined
  readonly onEvent: (event: ServerSentEvent) => void
  /** The service has refused: true ends it, else it tries again half a minute later. */
  readonly onRefused: (code: string) => boolean
  readonly onConnected?: (serverTime: Date | undefined) => void
  readonly onDisconnected?: () => void
  readonly signal: AbortSignal
}

/** The pause after a refusal, and after an answer that is not the service's, for example from a proxy in front of it. */
const refusedPauseMs = 30_000

/** Calls `onEvent` for every event of a stream until it is aborted, through all failures. Rejects with the refusal that ends it. */
export async function follow({
  signal,
  onEvent,
  onRefused,
  lastEventId,
  ...live
}: FollowOptions): Promise<void> {
  while (!signal.aborted) {
    const last = lastEventId()
    try {
      const options = {
        ...live,
        baseUrl: location.origin,
        signal,
        ...(last !== undefined && { lastEventId: last }),
      }
      for await (const event of streamEvents(options)) onEvent(event)
    } catch (error) {
      if (error instanceof TippingError && onRefused(error.code)) throw error
      live.onDisconnected?.()
      await pause(refusedPauseMs, signal).catch(() => undefined)
    }
  }
}

interface FollowTipsOptions extends Omit<FollowOptions, 'path' | 'onEvent' | 'onRefused'> {
  readonly wallet: string
  readonly onTip: (tip: StreamedTip) => void
}

/** The same for every tip of a wallet. Only an invalid wallet ends it. */
export function followTips({ wallet, onTip, ...options }: FollowTipsOptions): Promise<void> {
  return follow({
    ...options,
    path: `/chain/tips/stream?wallet=${encodeURIComponent(wallet)}`,
    onEvent(event) {
      const tip = tipOf(event)
      if (tip !== undefined) onTip(tip)
    },
    onRefused: (code) => /^(invalid_wallet|wallet_required)$/.test(code),
  })
}
