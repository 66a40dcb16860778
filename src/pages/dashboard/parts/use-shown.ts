import { useEffect, useRef, useState } from 'preact/hooks'

/** So long the screen waits for all of its parts before it shows those that are there. */
export const mostWaitMs = 3000

/** Whether the screen is shown: once it is complete or has waited long enough, and from then on. */
export function useShown(complete: boolean): boolean {
  const [waited, setWaited] = useState(false)
  const shown = useRef(false)
  useEffect(() => {
    const timer = setTimeout(() => setWaited(true), mostWaitMs)
    return () => clearTimeout(timer)
  }, [])
  shown.current ||= complete || waited
  return shown.current
}
