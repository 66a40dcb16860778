import type { ComponentChildren, JSX } from 'preact'

type Kind = 'primary' | 'plain' | 'quiet' | 'danger'

interface Shared {
  readonly kind?: Kind
  readonly children: ComponentChildren
}

/** `busy`: the button's action is still running. The button is not disabled, so it keeps the focus. */
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

/** A link that looks like a button. With `newTab` the new tab gets neither the opener nor the referrer. */
export function LinkButton({
  kind = 'plain',
  href,
  newTab = false,
  children,
}: Shared & {
  readonly href: string
  readonly newTab?: boolean
}): JSX.Element {
  return (
    <a
      class={`button button--${kind}`}
      href={href}
      target={newTab ? '_blank' : '_top'}
      rel="noopener noreferrer"
    >
      {children}
    </a>
  )
}
