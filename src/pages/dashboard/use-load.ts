import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { call, codeOf } from './api.js'
import { useSession } from './session.js'

export interface Loaded<Answer> {
  readonly data: Answer | undefined
  /** The code of what went wrong the last time. */
  readonly fault: string | undefined
  readonly reload: () => void
}

/**
 * What a path answers, asked again when the path or `turn` changes, when somebody signs in again, and by `reload`. What
 * was there stays until the new answer is, unless the path is another.
 */
export function useLoad<Answer>(path: string, turn = 0): Loaded<Answer> {
  const { entered } = useSession()
  const [state, setState] = useState<{ data?: Answer; fault?: string }>({})
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
        if (!stop.signal.aborted) setState((before) => ({ ...before, fault: codeOf(error) }))
      },
    )
    return () => stop.abort()
    // A new turn or session asks again.
  }, [path, turn, reloads, entered])
  const reload = useCallback(() => setReloads((before) => before + 1), [])
  return { data: state.data, fault: state.fault, reload }
}
