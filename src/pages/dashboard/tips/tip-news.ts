import { useEffect, useState } from 'preact/hooks'
import type { StreamedTip } from '../../../sdk/client/stream.js'
import { followTips } from '../../lib/follow-tips.js'

/** The tips that the stream delivered since the screen opened. */
export interface TipNews {
  readonly count: number
  readonly latest: StreamedTip | undefined
  /** Undefined until the first connection succeeds or fails. */
  readonly connected: boolean | undefined
}

/** Follows the tips of a wallet while the screen is open. */
export function useTipNews(wallet: string | null): TipNews {
  const [news, setNews] = useState<TipNews>({ count: 0, latest: undefined, connected: undefined })
  useEffect(() => {
    if (wallet === null) return
    const stop = new AbortController()
    let cursor: string | undefined
    const connected = (is: boolean): void => setNews((before) => ({ ...before, connected: is }))
    followTips({
      wallet,
      signal: stop.signal,
      lastEventId: () => cursor,
      onTip(tip) {
        cursor = tip.id
        setNews((before) => ({ ...before, count: before.count + 1, latest: tip }))
      },
      onConnected: () => connected(true),
      onDisconnected: () => connected(false),
    }).catch(() => connected(false))
    return () => stop.abort()
  }, [wallet])
  return news
}
