import { useEffect, useState } from 'preact/hooks'
import { afterNavigation } from '../route.js'

/** The name of the open drawer, in the state of the browser's history entry. */
function openDrawer(): string | undefined {
  const name: unknown = (history.state as { drawer?: unknown } | null)?.drawer
  return typeof name === 'string' ? name : undefined
}

/** A second press must not leave the screen while the first one's `history.back` is on its way. */
let closing = false

/**
 * The drawers and dialogs of a screen. An open one is an entry of the browser's history: Back closes it, Forward and a reload
 * open it again.
 */
export function useDrawer() {
  const [open, setOpen] = useState(openDrawer)
  useEffect(
    () =>
      afterNavigation(() => {
        closing = false
        setOpen(openDrawer())
      }),
    [],
  )
  return {
    open,
    show(name: string): void {
      // The step of a form behind the drawer stays in the entry.
      history.pushState({ ...history.state, drawer: name }, '')
      setOpen(name)
      closing = false
    },
    close(): void {
      if (closing || openDrawer() === undefined) return
      closing = true
      history.back()
    },
  }
}
