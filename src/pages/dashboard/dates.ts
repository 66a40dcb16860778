import { useEffect, useRef, useState } from 'preact/hooks'

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** `3 Nov` for the UTC date `2026-11-03`; empty for an empty text. */
export function dayText(isoDate: string): string {
  return isoDate === '' ? '' : day.format(new Date(isoDate))
}

/** `3 Nov 2026, 14:05` in the browser's time zone. */
export function momentText(iso: string): string {
  return moment.format(new Date(iso))
}

/** `3 Nov 2026` in the browser's time zone. */
export function dateText(iso: string): string {
  return date.format(new Date(iso))
}

/** `just now`, `5 min. ago`, `3 hr. ago`, `yesterday`; the date when older than a week. */
export function agoText(iso: string, nowMs: number): string {
  const ms = nowMs - Date.parse(iso)
  if (ms < minuteMs) return 'just now'
  if (ms < hourMs) return ago.format(-Math.floor(ms / minuteMs), 'minute')
  if (ms < dayMs) return ago.format(-Math.floor(ms / hourMs), 'hour')
  if (ms < 7 * dayMs) return ago.format(-Math.floor(ms / dayMs), 'day')
  return date.format(new Date(iso))
}

export function useNow(ms = minuteMs / 2, needed = true): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!needed) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), ms)
    return () => clearInterval(timer)
  }, [ms, needed])
  return now
}

/** The newest value, updated at most once in `ms`; the first change comes through immediately. */
export function useThrottled<Value>(value: Value, ms: number): Value {
  const [throttled, setThrottled] = useState(value)
  const changedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (value === throttled) return
    const update = (): void => {
      changedAt.current = Date.now()
      setThrottled(value)
    }
    const timer = setTimeout(update, Math.max(0, changedAt.current + ms - Date.now()))
    return () => clearTimeout(timer)
  }, [value, throttled, ms])
  return throttled
}
