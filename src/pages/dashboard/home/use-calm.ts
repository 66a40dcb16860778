import { useEffect, useRef, useState } from 'preact/hooks'

/**
 * The newest value at most once in so many milliseconds, the first change at once: what is asked of the service for
 * each change stays below its limits, however busy the stream is.
 */
export function useCalm(value: number, ms: number): number {
  const [calm, setCalm] = useState(value)
  const changedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (value === calm) return
    const timer = setTimeout(
      () => {
        changedAt.current = Date.now()
        setCalm(value)
      },
      Math.max(0, changedAt.current + ms - Date.now()),
    )
    return () => clearTimeout(timer)
  }, [value, calm, ms])
  return calm
}
