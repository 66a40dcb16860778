import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { type Screen, screens } from '../route.js'
import { useSession } from '../session.js'
import { Brand } from './brand.js'
import { ScreenLink } from './screen-link.js'

/** The screens and the account menu. */
export function TopBar({
  screen,
  onHelp,
}: {
  readonly screen: Screen
  readonly onHelp: () => void
}): JSX.Element {
  const { me, signOut } = useSession()
  return (
    <header class="bar">
      <div class="bar__inner">
        <Brand />
        <nav class="bar__nav" aria-label={words.nav}>
          {screens.map((name) => (
            <ScreenLink key={name} to={name} current={name === screen} class="bar__link">
              {words.screens[name]}
            </ScreenLink>
          ))}
        </nav>
        <details class="account">
          <summary class="account__name">
            <bdi>{me.name}</bdi>
          </summary>
          <div class="account__menu card">
            <p class="quiet">
              <bdi>{me.email}</bdi>
            </p>
            <button type="button" class="link" onClick={onHelp}>
              {words.shortcuts.title} <kbd>?</kbd>
            </button>
            <button type="button" class="link" onClick={signOut}>
              {words.signOut}
            </button>
          </div>
        </details>
      </div>
    </header>
  )
}
