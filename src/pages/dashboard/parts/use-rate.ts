import { useEffect } from 'preact/hooks'
import type { Rate } from '../answers.js'
import { useLoad } from '../use-load.js'

/** Bounds of the pause between two requests. */
const minPauseMs = 5000
const maxPauseMs = 60_000

/** The exchange rate, requested again when it expires; undefined while there is none. */
export function useRate(): Rate | undefined {
  const { data, fault, reload } = useLoad<Rate>('/payments/fiat/rate')
  const expiresAt = data?.expiresAt
  useEffect(() => {
    const left = expiresAt === undefined ? minPauseMs : Date.parse(expiresAt) - Date.now()
    const timer = setTimeout(reload, Math.min(Math.max(left, minPauseMs), maxPauseMs))
    return () => clearTimeout(timer)
    // A failed request is repeated, too.
  }, [expiresAt, fault, data, reload])
  return fault === undefined ? data : undefined
}
