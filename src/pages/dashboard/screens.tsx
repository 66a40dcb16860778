import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { words } from '../i18n/dashboard.js'
import { Announcer, Icon, type IconName, Notice, TextButton } from '../ui/kit.js'
import { useConnection } from './connection.js'
import { Home } from './home/home.js'
import { More } from './more.js'
import { Brand } from './parts/cards.js'
import { useFocus } from './parts/focus.js'
import { ScreenLink } from './parts/links.js'
import { onDemand } from './parts/on-demand.js'
import { type Screen, screens, useRoute } from './route.js'
import { Reauthentication } from './security/reauthentication.js'
import { useSession } from './session.js'
import { TipNewsProvider, useTellings, useTipNews, useUnseen } from './tips/news.js'
import { Tips } from './tips/tips.js'
import { Withdraw } from './withdraw/withdraw.js'

/** The first load has the screens of the bar on a phone. */
const contents: Readonly<Record<Screen, () => JSX.Element>> = {
  home: Home,
  tips: Tips,
  withdraw: Withdraw,
  more: More,
  'take-out': onDemand(() => import('./take-out/take-out.js').then(({ TakeOut }) => TakeOut)),
  page: onDemand(() => import('./page/page.js').then(({ PageScreen }) => PageScreen)),
  overlay: onDemand(() => import('./overlay/overlay.js').then(({ OverlaySettings }) => OverlaySettings)),
  developers: onDemand(() => import('./developers/developers.js').then(({ Developers }) => Developers)),
  security: onDemand(() => import('./security/security.js').then(({ SecurityScreen }) => SecurityScreen)),
  settings: onDemand(() => import('./settings/settings.js').then(({ SettingsScreen }) => SettingsScreen)),
  statement: onDemand(() =>
    import('./statement/statement.js').then(({ StatementScreen }) => StatementScreen),
  ),
}

export function Screens() {
  const { screen } = useRoute()
  const news = useTipNews(useSession().me.walletPublicKey)
  const unseen = useUnseen(news.count)
  useTellings(news)
  // Screen readers announce the first screen with the page load.
  const heading = useFocus(screen)
  useEffect(() => window.scrollTo(0, 0), [screen])
  useEffect(() => {
    const count = unseen === 0 ? '' : `(${unseen}) `
    document.title = `${count}${words.screens[screen]} · ${words.brand}`
  }, [screen, unseen])
  const Content = contents[screen]
  return (
    <TipNewsProvider value={news}>
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
    </TipNewsProvider>
  )
}

/** The bar at the bottom of a phone. A wider bar has the screens of "More" in place of it. */
const onPhone: Partial<Record<Screen, IconName>> = {
  home: 'home',
  tips: 'list',
  withdraw: 'bank',
  more: 'more',
}
/** The statement is reached from the tips. */
const inBar = screens.filter((screen) => screen !== 'statement')

function TopBar({ screen }: { readonly screen: Screen }) {
  const { me, signOut } = useSession()
  return (
    <header class="bar">
      <div class="bar__inner">
        <Brand />
        <nav class="bar__nav" aria-label={words.nav}>
          {inBar.map((name) => {
            const icon = onPhone[name]
            const within = name === 'more' && onPhone[screen] === undefined
            const kind = icon === undefined ? 'bar__link--wide' : name === 'more' ? 'bar__link--phone' : ''
            return (
              <ScreenLink
                key={name}
                to={name}
                current={name === screen || within}
                class={`bar__link ${kind}`}
              >
                {icon !== undefined && <Icon name={icon} />}
                {words.screens[name]}
              </ScreenLink>
            )
          })}
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
