import type { AriaAttributes, ComponentChildren } from 'preact'
import { go, pathOf, type Screen } from '../route.js'

export function TextButton({
  class: kind = '',
  text,
  onPress,
  ...aria
}: AriaAttributes & {
  readonly class?: string
  readonly text: ComponentChildren
  readonly onPress: () => void
}) {
  return (
    <button type="button" class={`link ${kind}`} {...aria} onClick={() => onPress()}>
      {text}
    </button>
  )
}

/** A link to another screen. It does not reload the page, and still works for opening a new tab. */
export function ScreenLink({
  to,
  current = false,
  children,
  ...rest
}: {
  readonly to: Screen
  readonly current?: boolean
  readonly class?: string
  readonly children: ComponentChildren
}) {
  return (
    <a
      {...rest}
      href={pathOf(to)}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}
