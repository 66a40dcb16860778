import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../i18n/dashboard.js'
import { Announcer, Notice, TextButton } from '../ui/kit.js'
import { useConnection } from './connection.js'
import { Home } from './home/home.js'
import { OverlaySettings } from './overlay/overlay.js'
import { Brand } from './parts/cards.js'
import { useFocus } from './parts/focus.js'
import { ScreenLink } from './parts/links.js'
import { Unread } from './parts/notices.js'
import { type Screen, screens, useRoute } from './route.js'
import { Reauthentication } from './security/reauthentication.js'
import { SecurityScreen } from './security/security.js'
import { useSession } from './session.js'
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
  developers: DevelopersOnDemand,
  security: SecurityScreen,
  settings: SettingsScreen,
}

export function Screens() {
  const { screen } = useRoute()
  // Screen readers announce the first screen with the page load.
  const heading = useFocus(screen)
  useEffect(() => {
    document.title = `${words.screens[screen]} · ${words.brand}`
    window.scrollTo(0, 0)
  }, [screen])
  const Content = contents[screen]
  return (
    <>
      <TopBar screen={screen} />
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
    </>
  )
}

/** Only integrators need this screen, so the first load is without it. */
function DevelopersOnDemand() {
  const [state, setState] = useState<{ Content?: () => JSX.Element; fault?: string }>({})
  useEffect(() => {
    import('./developers/developers.js').then(
      ({ Developers }) => setState({ Content: Developers }),
      () => setState({ fault: 'network' }),
    )
  }, [])
  const { Content, fault } = state
  // Browsers may remember that an import failed, so only a new page load repeats it.
  return Content === undefined ? <Unread of={{ fault, reload: () => location.reload() }} /> : <Content />
}

function TopBar({ screen }: { readonly screen: Screen }) {
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
            <TextButton text={words.signOut} onPress={signOut} />
          </div>
        </details>
      </div>
    </header>
  )
}

function ConnectionNotice() {
  const state = useConnection()
  const isBack = state === 'back'
  return (
    <>
      <Announcer text={isBack ? words.connection.back : ''} />
      {state !== 'good' && (
        <div class="connection">
          <Notice
            tone={isBack ? 'good' : 'warn'}
            icon={isBack ? 'tick' : 'offline'}
            urgent={!isBack}
            text={words.connection[state]}
          />
        </div>
      )}
    </>
  )
}

function FrozenNotice() {
  const { security } = useSession()
  if (security === undefined || security.frozenAt === null) return null
  const { title, stops, works, remedy } = words.frozen
  return (
    <div class="connection">
      <Notice tone="warn" urgent title={title}>
        {stops} {works} {remedy}
      </Notice>
    </div>
  )
}
