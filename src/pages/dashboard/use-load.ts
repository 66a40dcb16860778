import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isPassing } from '../lib/failures.js'
import { call, codeOf } from './api.js'
import { useRetry } from './connection.js'
import { useSession } from './session.js'

export interface Loaded<Answer> {
  readonly data: Answer | undefined
  /** The error code of the last request, if it failed. */
  readonly fault: string | undefined
  readonly reload: () => void
}

/** Whether the first request is over, by an answer or a failure. */
export function isOver({ data, fault }: Loaded<unknown>): boolean {
  return data !== undefined || fault !== undefined
}

/**
 * Reads a path of the API, and reads it again when the path or `version` changes, after a new sign-in, and on `reload`.
 * The old data stays until the new answer is there, unless the path changed. Failures that pass are repeated.
 */
export function useLoad<Answer>(path: string, version = 0): Loaded<Answer> {
  const { signIns } = useSession()
  const [state, setState] = useState<{ data?: Answer; fault?: string; failures?: number }>({})
  const [reloads, setReloads] = useState(0)
  const shownPath = useRef(path)
  useEffect(() => {
    const stop = new AbortController()
    if (shownPath.current !== path) setState({})
    shownPath.current = path
    call<Answer>('GET', path, { signal: stop.signal }).then(
      (data) => {
        if (!stop.signal.aborted) setState({ data })
      },
      (error: unknown) => {
        if (stop.signal.aborted) return
        setState((before) => ({
          ...before,
          fault: codeOf(error),
          failures: isPassing(error) ? (before.failures ?? 0) + 1 : 0,
        }))
      },
    )
    return () => stop.abort()
    // A new version or sign-in repeats the request.
  }, [path, version, reloads, signIns])
  const reload = useCallback(() => setReloads((before) => before + 1), [])
  useRetry(state.failures ?? 0, reload)
  return { data: state.data, fault: state.fault, reload }
}
