import { useEffect } from 'preact/hooks'
import type { Rate } from '../answers.js'
import { useLoad } from '../use-load.js'

/** Asked again at most and at least this often. */
const leastMs = 5000
const mostMs = 60_000

/** Naira for a dollar, asked again as soon as it is no longer promised; undefined while there is none. */
export function useRate(): Rate | undefined {
  const { data, fault, reload } = useLoad<Rate>('/payments/fiat/rate')
  const expiresAt = data?.expiresAt
  useEffect(() => {
    const left = expiresAt === undefined ? leastMs : Date.parse(expiresAt) - Date.now()
    const timer = setTimeout(reload, Math.min(Math.max(left, leastMs), mostMs))
    return () => clearTimeout(timer)
    // A failure is asked again as well.
  }, [expiresAt, fault, data, reload])
  return fault === undefined ? data : undefined
}
