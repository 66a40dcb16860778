import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

type Heading = RefObject<HTMLHeadingElement | null>

/** A heading that gets the focus when what is shown has changed, so that screen readers announce it. */
export function useFocus(shown: unknown, { atFirst = false } = {}): Heading {
  const heading = useRef<HTMLHeadingElement>(null)
  const isNews = useRef(atFirst)
  useEffect(() => {
    if (isNews.current) heading.current?.focus()
    isNews.current = true
  }, [shown])
  return heading
}

/**
 * The heading of a card with a list. It gets the focus when the control that had it went away with its row; otherwise the next Tab
 * would begin at the top of the page. `shown`: what is listed, and the open dialog.
 */
export function useKeptFocus(removed: boolean, ...shown: readonly unknown[]): Heading {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (removed && document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, shown)
  return heading
}

/** Calls back with the value before when a known value has changed. */
export function useChange<Value>(value: Value | undefined, changed: (before: Value) => void): void {
  const before = useRef<Value>(undefined)
  useEffect(() => {
    if (before.current !== undefined && value !== undefined && before.current !== value)
      changed(before.current)
    before.current = value
    // Only a change of the value counts.
  }, [value])
}
