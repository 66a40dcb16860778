import { useEffect, useRef, useState } from 'preact/hooks'

/**
 * The newest value, updated at most once in `ms`; the first change comes through immediately. It keeps the requests made
 * for each change below the rate limit while many tips arrive.
 */
export function useThrottled(value: number, ms: number): number {
  const [throttled, setThrottled] = useState(value)
  const changedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (value === throttled) return
    const timer = setTimeout(
      () => {
        changedAt.current = Date.now()
        setThrottled(value)
      },
      Math.max(0, changedAt.current + ms - Date.now()),
    )
    return () => clearTimeout(timer)
  }, [value, throttled, ms])
  return throttled
}
