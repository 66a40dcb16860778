import { words } from '../i18n/dashboard.js'
import { ScreenLink } from './parts/links.js'
import type { Screen } from './route.js'

const listed = [
  'page',
  'overlay',
  'statement',
  'take-out',
  'settings',
  'security',
  'developers',
] as const satisfies readonly Screen[]

/** On a phone: the screens that have no place in the bar. */
export function More() {
  return (
    <ul class="card rows">
      {listed.map((name) => (
        <li key={name} class="rows__row">
          <ScreenLink to={name} class="more">
            <span class="strong">{words.screens[name]}</span>
            <span class="quiet">{words.more[name]}</span>
          </ScreenLink>
        </li>
      ))}
    </ul>
  )
}
