import { TippingError } from '../../sdk/client/errors.js'
import { type StreamedTip, streamTips } from '../../sdk/client/stream.js'
import { pause } from '../../sdk/client/wait.js'

export interface FollowOptions {
  readonly wallet: string
  /** The stream starts after this tip. Called again for every new connection. */
  readonly lastEventId: () => string | undefined
  readonly onTip: (tip: StreamedTip) => void
  readonly onConnected?: (serverTime: Date | undefined) => void
  readonly onDisconnected?: () => void
  readonly signal: AbortSignal
}

/** The pause after an answer that is not the service's, for example from a proxy in front of it. */
const foreignAnswerPauseMs = 30_000

/** Calls `onTip` for every tip of a wallet until it is aborted, through all failures. Rejects only for an invalid wallet. */
export async function followTips({ signal, onTip, lastEventId, ...live }: FollowOptions): Promise<void> {
  while (!signal.aborted) {
    const last = lastEventId()
    try {
      const options = {
        ...live,
        baseUrl: location.origin,
        signal,
        ...(last !== undefined && { lastEventId: last }),
      }
      for await (const tip of streamTips(options)) onTip(tip)
    } catch (error) {
      if (error instanceof TippingError && /^(invalid_wallet|wallet_required)$/.test(error.code)) throw error
      live.onDisconnected?.()
      await pause(foreignAnswerPauseMs, signal).catch(() => undefined)
    }
  }
}
