import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { spokenUsd } from '../../lib/tip-text.js'
import type { TipNews } from './tip-news.js'

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
