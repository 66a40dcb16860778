import type { ComponentChildren, JSX } from 'preact'

type Kind = 'primary' | 'plain' | 'quiet' | 'danger'

interface Shared {
  readonly kind?: Kind
  readonly children: ComponentChildren
}

/** A button of the page's own. `busy`: it has been pressed and its work is not done; it stays where the focus is. */
export function Button({
  kind = 'plain',
  type = 'button',
  busy = false,
  onPress,
  children,
}: Shared & {
  readonly type?: 'button' | 'submit'
  readonly busy?: boolean
  readonly onPress?: (() => void) | undefined
}): JSX.Element {
  return (
    <button
      type={type}
      class={`button button--${kind}`}
      aria-disabled={busy}
      onClick={(event) => {
        if (busy) event.preventDefault()
        else onPress?.()
      }}
    >
      {children}
    </button>
  )
}

/** A link that looks like a button. To another site it opens a window of its own, which learns nothing of this one. */
export function LinkButton({
  kind = 'plain',
  href,
  newTab = false,
  onPress,
  children,
}: Shared & {
  readonly href: string
  readonly newTab?: boolean
  readonly onPress?: (() => void) | undefined
}): JSX.Element {
  return (
    <a
      class={`button button--${kind}`}
      href={href}
      target={newTab ? '_blank' : '_top'}
      rel="noopener noreferrer"
      onClick={() => onPress?.()}
    >
      {children}
    </a>
  )
}
