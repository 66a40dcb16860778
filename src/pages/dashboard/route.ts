import { useEffect, useState } from 'preact/hooks'

export const screens = ['home', 'tips', 'withdraw', 'overlay', 'developers', 'settings'] as const
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

/** Shows another screen and adds an entry to the browser's history. */
export function go(screen: Screen, query?: URLSearchParams): void {
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

/** The current screen and query. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute)
  useEffect(() => {
    const follow = (): void => setRoute(currentRoute())
    window.addEventListener(navigated, follow)
    return () => window.removeEventListener(navigated, follow)
  }, [])
  return route
}
