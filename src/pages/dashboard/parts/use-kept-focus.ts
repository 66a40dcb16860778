import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/**
 * The heading of a card with a list. It gets the focus when the control that had it went away with its row; otherwise the next Tab
 * would begin at the top of the page. `shown`: what is listed, and the open dialog.
 */
export function useKeptFocus(
  removed: boolean,
  ...shown: readonly unknown[]
): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (removed && document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, shown)
  return heading
}
