import { useEffect, useState } from 'preact/hooks'

/** Codes of failures that pass by themselves: no connection, a service that restarts, a proxy's own answer. */
const passing = ['network', 'service_unavailable', 'bad_answer', 'internal_error', 'too_many_requests']
const connected = new EventTarget()
let reached = true

export function isPassing(code: string | undefined): boolean {
  return code !== undefined && passing.includes(code)
}

/** The pause before a failed read is repeated: 2 s, doubling to 30 s. */
export function retryPauseMs(failures: number): number {
  return Math.min(2000 * 2 ** Math.max(0, failures - 1), 30_000)
}

/** Records whether a request reached the service. */
export function recordReach(now: boolean): void {
  if (now === reached) return
  reached = now
  connected.dispatchEvent(new Event('change'))
}

/** `back`: reached again after a failure. */
export type Connection = 'good' | 'offline' | 'unreachable' | 'back'

/** How long the page says that the connection is back. */
const backMs = 5000

export function useConnection(): Connection {
  const [state, setState] = useState<Connection>('good')
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const follow = (): void => {
      clearTimeout(timer)
      if (reached && navigator.onLine) {
        setState((before) => (before === 'good' ? 'good' : 'back'))
        timer = setTimeout(() => setState('good'), backMs)
      } else setState(navigator.onLine ? 'unreachable' : 'offline')
    }
    connected.addEventListener('change', follow)
    window.addEventListener('online', follow)
    window.addEventListener('offline', follow)
    follow()
    return () => {
      clearTimeout(timer)
      connected.removeEventListener('change', follow)
      window.removeEventListener('online', follow)
      window.removeEventListener('offline', follow)
    }
  }, [])
  return state
}

/** Calls `retry` after a pause that grows with the failures, and at once when the browser is online again. */
export function useRetry(failures: number, retry: () => void): void {
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
