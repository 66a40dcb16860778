import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { words } from '../i18n/dashboard.js'
import { Developers } from './developers/developers.js'
import { Home } from './home/home.js'
import { OverlaySettings } from './overlay/overlay-settings.js'
import { ConnectionNotice } from './parts/connection-notice.js'
import { useDrawer } from './parts/drawer.js'
import { FrozenNotice } from './parts/frozen-notice.js'
import { ShortcutsHelp, useShortcuts } from './parts/shortcuts.js'
import { TopBar } from './parts/top-bar.js'
import { type Screen, useRoute } from './route.js'
import { Reauthentication } from './security/reauthentication.js'
import { SecurityScreen } from './security/security.js'
import { SettingsScreen } from './settings/settings.js'
import { TakeOut } from './take-out/take-out.js'
import { Tips } from './tips/tips.js'
import { Withdraw } from './withdraw/withdraw.js'

const contents: Readonly<Record<Screen, () => JSX.Element>> = {
  home: Home,
  tips: Tips,
  withdraw: Withdraw,
  'take-out': TakeOut,
  overlay: OverlaySettings,
  developers: Developers,
  security: SecurityScreen,
  settings: SettingsScreen,
}

const helpName = 'shortcuts'

/** The top bar and the current screen. */
export function Screens(): JSX.Element {
  const { screen } = useRoute()
  const drawer = useDrawer()
  const help = (): void => drawer.show(helpName)
  const heading = useRef<HTMLHeadingElement>(null)
  const first = useRef(true)
  useShortcuts(help)
  useEffect(() => {
    document.title = `${words.screens[screen]} · ${words.brand}`
    // Focus the heading so that screen readers announce the new screen. They announce the first one with the page load.
    if (!first.current) heading.current?.focus()
    first.current = false
    window.scrollTo(0, 0)
  }, [screen])
  const Content = contents[screen]
  return (
    <>
      <TopBar screen={screen} onHelp={help} />
      <ConnectionNotice />
      <FrozenNotice />
      <Reauthentication>
        <main class="page" key={screen}>
          <h1 ref={heading} tabIndex={-1}>
            {words.screens[screen]}
          </h1>
          <Content />
        </main>
      </Reauthentication>
      {drawer.open === helpName && <ShortcutsHelp onClose={drawer.close} />}
    </>
  )
}
