import type { ComponentChildren } from 'preact'
import { go, pathOf, type Screen } from '../route.js'

type ScreenLinkProps = { to: Screen; current?: boolean; class?: string; children: ComponentChildren }

/** A link to another screen. It does not reload the page, and still works for opening a new tab. */
export function ScreenLink({ to, current = false, children, ...rest }: ScreenLinkProps) {
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
