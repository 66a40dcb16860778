import { useEffect } from 'preact/hooks'

/** Calls every `ms` while it is active and the page is visible. */
export function usePolling(call: () => void, ms: number, active: boolean): void {
  useEffect(() => {
    if (!active) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') call()
    }, ms)
    return () => clearInterval(timer)
  }, [call, ms, active])
}
