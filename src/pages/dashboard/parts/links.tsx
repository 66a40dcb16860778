import type { ComponentChildren } from 'preact'
import { go, pathOf, type Screen } from '../route.js'

interface ScreenLinkProps {
  to: Screen
  query?: URLSearchParams
  current?: boolean
  class?: string
  children: ComponentChildren
}

/** A link to another screen. It does not reload the page, and still works for opening a new tab. */
export function ScreenLink({ to, query, current = false, children, ...rest }: ScreenLinkProps) {
  return (
    <a
      {...rest}
      href={pathOf(to, query)}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        go(to, query)
      }}
    >
      {children}
    </a>
  )
}
