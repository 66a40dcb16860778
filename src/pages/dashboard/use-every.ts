import { useEffect } from 'preact/hooks'

/** Calls again and again while the page is seen and it is wanted. */
export function useEvery(call: () => void, ms: number, wanted: boolean): void {
  useEffect(() => {
    if (!wanted) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') call()
    }, ms)
    return () => clearInterval(timer)
  }, [call, ms, wanted])
}
