import { useEffect, useState } from 'preact/hooks'

export const screens = [
  'home',
  'tips',
  'withdraw',
  'take-out',
  'page',
  'overlay',
  'developers',
  'security',
  'settings',
  'statement',
  'more',
] as const
export type Screen = (typeof screens)[number]

export interface Route {
  readonly screen: Screen
  readonly query: URLSearchParams
}

const base = '/dashboard'
const navigated = 'popstate'

export function pathOf(screen: Screen, query = new URLSearchParams()): string {
  const path = screen === 'home' ? base : `${base}/${screen}`
  return query.size === 0 ? path : `${path}?${query}`
}

export function go(screen: Screen, query?: URLSearchParams): void {
  if (!mayLeaveFor(screen)) return
  history.pushState(undefined, '', pathOf(screen, query))
  window.dispatchEvent(new PopStateEvent(navigated))
}

/** Changes the query of the current screen without a new entry in the browser's history. */
export function replaceQuery(query: URLSearchParams): void {
  history.replaceState(undefined, '', pathOf(currentRoute().screen, query))
  window.dispatchEvent(new PopStateEvent(navigated))
}

function currentRoute(): Route {
  const name = location.pathname.slice(base.length + 1)
  return {
    screen: screens.find((screen) => screen === name) ?? 'home',
    query: new URLSearchParams(location.search),
  }
}

/** Calls back after the address or the history's entry has changed. Returns a function that stops it. */
function afterNavigation(follow: () => void): () => void {
  window.addEventListener(navigated, follow)
  return () => window.removeEventListener(navigated, follow)
}

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute)
  useEffect(() => {
    shown = { screen: currentRoute().screen, address: location.href }
    return afterNavigation(() => {
      const next = currentRoute()
      // Back and Forward have changed the address already: a screen that stays gets its entry back.
      if (shown !== undefined && !mayLeaveFor(next.screen)) history.pushState(undefined, '', shown.address)
      else {
        shown = { screen: next.screen, address: location.href }
        setRoute(next)
      }
    })
  }, [])
  return route
}

let shown: { readonly screen: Screen; readonly address: string } | undefined
const nothingUnsaved = (): boolean => false
/** Whether the screen has input that leaving it would lose. */
let isUnsaved = nothingUnsaved
let question = ''

/** Asks before the screen, or the page, is left while there is unsaved input. */
export function useLeaveQuestion(unsaved: boolean, text: string): void {
  useEffect(() => {
    if (!unsaved) return
    const stay = (event: BeforeUnloadEvent): void => event.preventDefault()
    isUnsaved = () => true
    question = text
    window.addEventListener('beforeunload', stay)
    return () => {
      isUnsaved = nothingUnsaved
      window.removeEventListener('beforeunload', stay)
    }
  }, [unsaved, text])
}

function mayLeaveFor(screen: Screen): boolean {
  return screen === shown?.screen || mayLeave()
}

/** Asks once: after a yes nothing counts as unsaved. */
export function mayLeave(): boolean {
  if (!isUnsaved()) return true
  if (!window.confirm(question)) return false
  isUnsaved = nothingUnsaved
  return true
}

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
