import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { words } from '../../../i18n/dashboard.js'
import { Button } from '../../../ui/controls/button.js'
import { Notice } from '../../../ui/messages/notice.js'
import { Brand } from '../../parts/brand.js'
import { pathOf } from '../../route.js'

/** Says that the account is closed, to somebody who is signed in no more. */
export function ClosedPage({
  email,
  onLeave,
}: {
  /** Of the account that was closed. */
  readonly email: string
  readonly onLeave: () => void
}): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    history.replaceState(undefined, '', pathOf('home'))
    document.title = `${words.closing.closedTitle} · ${words.brand}`
    heading.current?.focus()
    window.scrollTo(0, 0)
  }, [])
  return (
    <main class="sign-in-page">
      <Brand />
      <div class="card">
        <h1 ref={heading} tabIndex={-1}>
          {words.closing.closedTitle}
        </h1>
        <Notice tone="good" icon="tick">
          {words.closing.closed(email)}
        </Notice>
        <p class="quiet">{words.closing.again}</p>
        <Button kind="primary" onPress={onLeave}>
          {words.closing.next}
        </Button>
      </div>
    </main>
  )
}
