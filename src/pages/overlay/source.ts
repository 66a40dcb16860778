import { words } from '../i18n/overlay.js'
import { follow, followTips } from '../lib/follow.js'
import type { OverlayLook } from './look.js'
import type { Tip } from './queue.js'

interface SourceEvents {
  /** The stream starts after this event. */
  readonly lastEventId: () => string | undefined
  /** `atMs`: the service's clock. `cursor`: the newest event, where the first connection starts. */
  readonly onConnected: (atMs: number | undefined, cursor: string | undefined) => void
  readonly onDisconnected: () => void
  readonly onTip: (tip: Tip) => void
  readonly onSettings: (settings: OverlayLook) => void
  readonly onTest: (usd: number, id: string | undefined) => void
  /** The tip must not be shown any more. */
  readonly onRemoved: (eventId: string) => void
  /** Undefined: over. */
  readonly onFault: (fault: string | undefined) => void
}

/** Where an overlay's alerts come from. */
export interface Source {
  /** Names what this browser remembers about it. */
  readonly key: string
  start(events: SourceEvents, signal: AbortSignal): void
}

/** An address with parameters reads the public stream of a wallet. */
export function walletSource(wallet: string): Source {
  return {
    key: wallet,
    start({ onConnected, onFault, ...events }, signal) {
      followTips({
        ...events,
        wallet,
        signal,
        onConnected: (serverTime) =>
          onConnected(serverTime?.getTime(), serverTime && String(serverTime.getTime())),
      }).catch(() => onFault(words.badWallet))
    },
  }
}

type Data =
  | { readonly status: 'connected'; readonly at: string; readonly settings: OverlayLook }
  | ({ readonly type: 'tip' } & Omit<Tip, 'id'>)
  | { readonly type: 'settings'; readonly settings: OverlayLook }
  | { readonly type: 'test'; readonly valueUsd: number }
  | { readonly type: 'removed'; readonly eventId: string }

/** The service has the settings of an address with a token, and tells their changes. */
export function tokenSource(token: string): Source {
  return {
    key: token,
    start(events, signal) {
      const handle = (data: Data, id: string | undefined): void => {
        if ('status' in data) {
          events.onFault(undefined)
          events.onSettings(data.settings)
          events.onConnected(Date.parse(data.at), id)
        } else if (data.type === 'tip') events.onTip({ ...data, id })
        else if (data.type === 'settings') events.onSettings(data.settings)
        else if (data.type === 'test') events.onTest(data.valueUsd, id)
        else if (data.type === 'removed') events.onRemoved(data.eventId)
      }
      void follow({
        path: `/overlay/${token}/stream`,
        signal,
        lastEventId: events.lastEventId,
        onDisconnected: events.onDisconnected,
        onEvent: ({ id, data }) => data !== undefined && handle(JSON.parse(data), id),
        onRefused(code) {
          if (code === 'not_found') events.onFault(words.badToken)
          return false
        },
      })
    },
  }
}
