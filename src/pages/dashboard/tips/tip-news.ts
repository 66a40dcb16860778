import { useEffect, useRef, useState } from 'preact/hooks'
import type { StreamedTip } from '../../../sdk/client/stream.js'
import { words } from '../../i18n/dashboard.js'
import { followTips } from '../../lib/follow-tips.js'
import { spokenUsd } from '../../lib/tip-text.js'

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

/** Screen readers hear of new tips at most this often. */
const minPauseMs = 5000

/** The pause before the next announcement. */
function pauseBefore(lastAtMs: number | undefined, nowMs: number): number {
  return lastAtMs === undefined ? 0 : Math.max(0, lastAtMs + minPauseMs - nowMs)
}

/** The text for the live region: the newest tip, and how many tips came since the last announcement. */
export function useAnnouncement({ count, latest }: TipNews): string {
  const [text, setText] = useState('')
  const announced = useRef<{ count: number; at: number | undefined }>({ count: 0, at: undefined })
  useEffect(() => {
    const fresh = count - announced.current.count
    if (latest === undefined || fresh <= 0) return
    const timer = setTimeout(
      () => {
        announced.current = { count, at: Date.now() }
        setText(words.live.announcement(fresh, spokenUsd(latest.valueUsd), latest.sender))
      },
      pauseBefore(announced.current.at, Date.now()),
    )
    return () => clearTimeout(timer)
  }, [count, latest])
  return text
}
