import { useRef, useState } from 'preact/hooks'
import { codeOf } from './api.js'
import { abandoned } from './protect.js'

interface Submit<Given extends unknown[]> {
  readonly busy: boolean
  /** The error code of the last run, if it failed. */
  readonly fault: string | undefined
  readonly run: (...given: Given) => void
  readonly clear: () => void
  readonly fail: (code: string) => void
}

/** Runs a form's request, one at a time, and keeps the error code of the last one. */
export function useSubmit<Given extends unknown[] = []>(
  work: (...given: Given) => Promise<void>,
): Submit<Given> {
  const [busy, setBusy] = useState(false)
  const [fault, fail] = useState<string>()
  const running = useRef(false)
  const run = (...given: Given): void => {
    if (running.current) return
    running.current = true
    setBusy(true)
    fail(undefined)
    work(...given)
      .catch((error: unknown) => fail(codeOf(error) === abandoned ? undefined : codeOf(error)))
      .finally(() => {
        running.current = false
        setBusy(false)
      })
  }
  return { busy, fault, run, clear: () => fail(undefined), fail }
}
