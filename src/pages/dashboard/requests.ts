import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../i18n/dashboard.js'
import { isPassing } from '../lib/failures.js'
import { call, codeOf } from './api.js'
import { useRetry } from './connection.js'
import { abandoned } from './protect.js'
import { useSession } from './session.js'

export interface Loaded<Answer> {
  readonly data: Answer | undefined
  /** The error code of the last request, if it failed. */
  readonly fault: string | undefined
  /** The same while there is no data. */
  readonly unread: string | undefined
  /** Whether the first request is over, by an answer or a failure. */
  readonly isOver: boolean
  readonly reload: () => void
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
  const { data, fault } = state
  const isOver = data !== undefined || fault !== undefined
  return { data, fault, unread: data === undefined ? fault : undefined, isOver, reload }
}

/** Calls every `ms` while it is active and the page is visible. */
export function usePolling(poll: () => void, ms: number, active: boolean): void {
  useEffect(() => {
    if (!active) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') poll()
    }, ms)
    return () => clearInterval(timer)
  }, [poll, ms, active])
}

export interface Submission<Given extends unknown[] = []> {
  readonly busy: boolean
  /** The error code of the last run, if it failed. */
  readonly fault: string | undefined
  /** The same, if no field of the form shows it. */
  readonly untold: string | undefined
  /** The last run succeeded, and nothing was edited since. */
  readonly done: boolean
  readonly run: (...given: Given) => void
  readonly clear: () => void
  readonly fail: (code: string) => void
}

/** Runs a form's request, one at a time, and keeps the error code of the last one. */
export function useSubmit<Given extends unknown[] = []>(
  work: (...given: Given) => Promise<void>,
): Submission<Given> {
  const [busy, setBusy] = useState(false)
  const [fault, fail] = useState<string>()
  const [done, setDone] = useState(false)
  const running = useRef(false)
  const clear = (): void => {
    fail(undefined)
    setDone(false)
  }
  const run = (...given: Given): void => {
    if (running.current) return
    running.current = true
    setBusy(true)
    clear()
    work(...given)
      .then(() => setDone(true))
      .catch((error: unknown) => fail(codeOf(error) === abandoned ? undefined : codeOf(error)))
      .finally(() => {
        running.current = false
        setBusy(false)
      })
  }
  return { busy, fault, untold: fault, done, run, clear, fail }
}

/** The faults that a field shows: all, or those of these codes. */
type Shown = 'all' | readonly string[]
type Texts<Values> = { [Key in keyof Values]: Values[Key] extends string ? Key : never }[keyof Values]

/** The texts of a form and its request. An edit clears the fault of the last try. `field` gives an input its props. */
export function useForm<Values extends object>(first: Values, work: (values: Values) => Promise<void>) {
  const [values, setValues] = useState(first)
  const submission = useSubmit(() => work(values))
  const set = (change: Partial<Values>): void => {
    setValues((before) => ({ ...before, ...change }))
    submission.clear()
  }
  const form = {
    ...submission,
    values,
    set,
    /** The fault, if it is one of these, for what shows it. */
    told(shown: Shown) {
      const fault = shown === 'all' ? submission.fault : among(submission.fault, shown)
      if (fault !== undefined) form.untold = undefined
      return fault
    },
    field(name: Texts<Values>, shown: Shown = [], textOf = words.fault) {
      const fault = form.told(shown)
      const onInput = (text: string): void => set({ [name]: text } as unknown as Partial<Values>)
      return { value: values[name] as string, fault: fault && textOf(fault), onInput }
    },
  }
  return form
}

export type FormOf<Values extends object> = ReturnType<typeof useForm<Values>>

/** The error code, if it is one of these. */
function among(fault: string | undefined, codes: readonly string[]): string | undefined {
  return fault !== undefined && codes.includes(fault) ? fault : undefined
}

/** A list of the API. Its first page is read as by `useLoad`, each further one by `more`. */
export interface Pages<Page> extends Loaded<Page> {
  readonly pages: readonly Page[]
  readonly more: Submission
  readonly hasMore: boolean
}

/** The paths of a list's pages, from that of its first one. */
export function pathsAfter(first: string): (cursor?: string) => string {
  return (cursor) => (cursor === undefined ? first : `${first}&cursor=${encodeURIComponent(cursor)}`)
}

/** `pathAfter`: of the page after a cursor. A new first page drops the further ones. */
export function usePages<Page extends { readonly nextCursor: string | null }>(
  pathAfter: (cursor?: string) => string,
  version = 0,
): Pages<Page> {
  const first = useLoad<Page>(pathAfter(), version)
  const [further, setFurther] = useState<readonly Page[]>([])
  const pages = first.data === undefined ? [] : [first.data, ...further]
  const cursor = pages.at(-1)?.nextCursor ?? undefined
  const shown = useRef(first.data)
  shown.current = first.data
  const more = useSubmit(async () => {
    const page = await call<Page>('GET', pathAfter(cursor))
    // The filters may have changed meanwhile.
    if (shown.current === first.data) setFurther((before) => [...before, page])
  })
  useEffect(() => {
    setFurther([])
    more.clear()
    // The further pages belong to the first page.
  }, [pathAfter(), first.data])
  return { ...first, pages, more, hasMore: cursor !== undefined }
}
