import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/**
 * The polite live region of a page. It is rendered empty first, because screen readers do not read a region that appears
 * together with its text.
 */
export function Announcer({ text }: { readonly text: string }): JSX.Element {
  const [announced, announce] = useState('')
  useEffect(() => announce(text), [text])
  return (
    <p role="status" class="visually-hidden">
      {announced}
    </p>
  )
}
