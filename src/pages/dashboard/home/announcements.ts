import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { spokenUsd } from '../../lib/tip-text.js'
import type { TipNews } from './tip-news.js'

/** A reader is told of new tips at most this often. */
const leastPauseMs = 5000

/** How long to wait before the next announcement. */
function pauseBefore(lastAtMs: number | undefined, nowMs: number): number {
  return lastAtMs === undefined ? 0 : Math.max(0, lastAtMs + leastPauseMs - nowMs)
}

/** What the live region says of the tips that came: the newest, and how many since it last said something. */
export function useAnnouncement({ count, latest }: TipNews): string {
  const [text, setText] = useState('')
  const told = useRef<{ count: number; at: number | undefined }>({ count: 0, at: undefined })
  useEffect(() => {
    const fresh = count - told.current.count
    if (latest === undefined || fresh <= 0) return
    const timer = setTimeout(
      () => {
        told.current = { count, at: Date.now() }
        setText(words.live.announcement(fresh, spokenUsd(latest.valueUsd), latest.sender))
      },
      pauseBefore(told.current.at, Date.now()),
    )
    return () => clearTimeout(timer)
  }, [count, latest])
  return text
}
