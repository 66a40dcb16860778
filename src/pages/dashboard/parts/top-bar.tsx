import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { pathOf, type Screen, screens } from '../route.js'
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
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    // On a narrow screen the navigation scrolls: keep the current link visible.
    nav.current
      ?.querySelector(`[href="${pathOf(screen)}"]`)
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [screen])
  return (
    <header class="bar">
      <div class="bar__inner">
        <Brand />
        <nav class="bar__nav" ref={nav} aria-label={words.nav}>
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
