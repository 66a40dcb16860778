import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/**
 * The one polite live region of a page. It is there from the start, because a region that appears together with its text
 * is not read, and its text is set once per change.
 */
export function Announcer({ text }: { readonly text: string }): JSX.Element {
  const [said, say] = useState('')
  useEffect(() => say(text), [text])
  return (
    <p role="status" class="heard-only">
      {said}
    </p>
  )
}
