import { TippingError } from '../../sdk/client/errors.js'
import { pause } from '../../sdk/client/pause.js'
import { type StreamedTip, streamTips } from '../../sdk/client/stream.js'

export interface Live {
  readonly wallet: string
  /** What came after this tip comes first; asked anew at every start. */
  readonly lastEventId: () => string | undefined
  readonly onTip: (tip: StreamedTip) => void
  readonly onConnected?: (serverTime: Date | undefined) => void
  readonly onDisconnected?: () => void
  readonly signal: AbortSignal
}

/** After an answer that cannot be the service's own: something stands before it, which will go away. */
const strangerMs = 30_000

/**
 * Hands on every tip of a wallet for as long as the page lives, whatever the network and the service go through. Rejects
 * only when there is no such wallet.
 */
export async function followTips({ signal, onTip, lastEventId, ...live }: Live): Promise<void> {
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
      await pause(strangerMs, signal).catch(() => undefined)
    }
  }
}
