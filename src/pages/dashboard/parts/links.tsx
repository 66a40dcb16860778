import type { ButtonHTMLAttributes, ComponentChildren, JSX } from 'preact'
import { go, pathOf, type Screen } from '../route.js'

/** A button that looks like a link. */
export function TextButton({
  class: kind = '',
  onPress,
  ...button
}: Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'onClick' | 'type' | 'class'> & {
  readonly class?: string
  readonly onPress: () => void
}): JSX.Element {
  return <button type="button" class={`link ${kind}`} {...button} onClick={() => onPress()} />
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
}): JSX.Element {
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
