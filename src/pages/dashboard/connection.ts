import { useEffect, useRef, useState } from 'preact/hooks'

const changed = new EventTarget()
/** Reads of this page that fail now and are repeated. */
let failing = 0

/** The pause before a failed read is repeated: 2 s, doubling to 30 s. */
export function retryPauseMs(failures: number): number {
  return Math.min(2000 * 2 ** Math.max(0, failures - 1), 30_000)
}

function count(change: 1 | -1, isBack = false): void {
  failing += change
  changed.dispatchEvent(new CustomEvent('change', { detail: isBack }))
}

/** `back`: everything can be read again after a failure. */
export type Connection = 'good' | 'offline' | 'unreachable' | 'back'

const backMs = 5000

export function useConnection(): Connection {
  const [state, setState] = useState<Connection>('good')
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const follow = (event?: Event): void => {
      clearTimeout(timer)
      if (!navigator.onLine) setState('offline')
      else if (failing > 0) setState('unreachable')
      else {
        const isBack = event instanceof CustomEvent ? event.detail === true : event?.type === 'online'
        setState(isBack ? 'back' : 'good')
        timer = setTimeout(() => setState('good'), backMs)
      }
    }
    changed.addEventListener('change', follow)
    window.addEventListener('online', follow)
    window.addEventListener('offline', follow)
    follow()
    return () => {
      clearTimeout(timer)
      changed.removeEventListener('change', follow)
      window.removeEventListener('online', follow)
      window.removeEventListener('offline', follow)
    }
  }, [])
  return state
}

/** Calls `retry` after a pause that grows with the failures, and at once when the browser is online again. */
export function useRetry(failures: number, retry: () => void): void {
  const counted = useRef(false)
  useEffect(() => {
    if (failures > 0 === counted.current) return
    counted.current = failures > 0
    count(failures > 0 ? 1 : -1, true)
  }, [failures])
  useEffect(
    () => () => {
      if (counted.current) count(-1)
    },
    [],
  )
  useEffect(() => {
    if (failures === 0) return
    const timer = setTimeout(retry, retryPauseMs(failures))
    window.addEventListener('online', retry)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('online', retry)
    }
  }, [failures, retry])
}

/** So long a screen waits for all of its parts before it shows those that are there. */
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
