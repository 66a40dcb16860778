import { useEffect, useState } from 'preact/hooks'

export const screens = ['home', 'tips', 'withdraw', 'overlay', 'developers', 'settings'] as const
export type Screen = (typeof screens)[number]

export interface Route {
  readonly screen: Screen
  readonly query: URLSearchParams
}

const base = '/dashboard'
const moved = 'popstate'

export function pathOf(screen: Screen, query = new URLSearchParams()): string {
  const path = screen === 'home' ? base : `${base}/${screen}`
  return query.size === 0 ? path : `${path}?${query}`
}

/** Shows another screen, as a step that the browser's back button takes back. */
export function go(screen: Screen, query?: URLSearchParams): void {
  history.pushState(undefined, '', pathOf(screen, query))
  window.dispatchEvent(new PopStateEvent(moved))
}

/** Changes the query of the screen that is shown, without a step of its own. */
export function replaceQuery(query: URLSearchParams): void {
  history.replaceState(undefined, '', pathOf(currentRoute().screen, query))
  window.dispatchEvent(new PopStateEvent(moved))
}

function currentRoute(): Route {
  const name = location.pathname.slice(base.length + 1)
  return {
    screen: screens.find((screen) => screen === name) ?? 'home',
    query: new URLSearchParams(location.search),
  }
}

/** Which screen is shown, and with what query. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute)
  useEffect(() => {
    const follow = (): void => setRoute(currentRoute())
    window.addEventListener(moved, follow)
    return () => window.removeEventListener(moved, follow)
  }, [])
  return route
}
