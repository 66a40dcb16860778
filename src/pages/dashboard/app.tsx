import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { words } from '../i18n/dashboard.js'
import { Button, Notice } from '../ui/kit.js'
import type { Me, Security } from './answers.js'
import { call, codeOf, onRefusal } from './api.js'
import { useRetry } from './connection.js'
import { LinkPage } from './links/link-page.js'
import { endsSessions, mailedLink } from './links/mailed-link.js'
import { OutsidePage } from './parts/cards.js'
import { Dialog } from './parts/forms.js'
import { mayLeave, pathOf } from './route.js'
import { Screens } from './screens.js'
import { SessionContext } from './session.js'
import { linkToken, SignIn } from './sign-in/sign-in.js'
import { SignInPage } from './sign-in/sign-in-page.js'
import { forgetAccounts } from './withdraw/use-withdrawal.js'

/** `undefined`: not known yet; `null`: not signed in. */
type SignedIn = Me | null | undefined

const readMe = (): Promise<Me> => call<{ user: Me }>('GET', '/auth/me').then(({ user }) => user)

/** The page works without it, so a failure is not one of the page. */
const readSecurity = (): Promise<Security | undefined> =>
  call<Security>('GET', '/auth/security').catch(() => undefined)

export function App() {
  const [me, setMe] = useState<SignedIn>()
  const [security, setSecurity] = useState<Security>()
  const [link, setLink] = useState(() => mailedLink(location.hash))
  const [failures, setFailures] = useState(0)
  const [ended, setEnded] = useState(false)
  const [signIns, setSignIns] = useState(0)
  const [closedEmail, setClosedEmail] = useState<string>()
  const signOuts = useRef(0)
  const refresh = useCallback(() => {
    const signOutsBefore = signOuts.current
    const read = ([known, protection]: readonly [Me, Security | undefined]): void => {
      // Who has signed out must not be shown again by what was asked before.
      if (signOuts.current !== signOutsBefore) return
      setMe(known)
      setSecurity((before) => protection ?? before)
      setFailures(0)
    }
    // Both before the first screen: a banner that comes later would move it.
    Promise.all([readMe(), readSecurity()]).then(read, (error: unknown) => {
      if (codeOf(error) === 'unauthorized') setMe((before) => before ?? null)
      else setFailures((before) => before + 1)
    })
  }, [])
  const leave = useCallback(() => {
    signOuts.current += 1
    setMe(null)
    setSecurity(undefined)
    setEnded(false)
  }, [])
  const onSignedIn = useCallback(() => {
    setEnded(false)
    setSignIns((before) => before + 1)
    refresh()
  }, [refresh])
  useEffect(refresh, [refresh])
  useRetry(failures, refresh)
  useEffect(() => {
    // The browser's history must not keep the token of a mailed link, which a signed-in person does not need.
    if (me && linkToken() !== undefined) history.replaceState(undefined, '', location.pathname)
  }, [me])
  useEffect(() => onRefusal('unauthorized', () => setEnded(true)), [])
  useEffect(() => onRefusal('account_frozen', refresh), [refresh])
  useEffect(() => {
    // A mailed link that is opened in this tab changes only the fragment.
    const follow = (): void => setLink((shown) => mailedLink(location.hash) ?? shown)
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  const session = useMemo(
    () =>
      me
        ? {
            me,
            security,
            signIns,
            refresh,
            onSignedIn,
            signOut: () => signOut(me, leave),
            onClosed: () => {
              setClosedEmail(me.email)
              leave()
              forgetAccounts(me.id)
            },
          }
        : undefined,
    [me, security, signIns, refresh, onSignedIn, leave],
  )
  if (link !== undefined)
    return (
      <LinkPage
        key={link.token}
        link={link}
        onDone={(done) => {
          setLink(undefined)
          if (done && endsSessions(link.kind)) leave()
          else refresh()
        }}
      />
    )
  if (closedEmail !== undefined)
    return <ClosedPage email={closedEmail} onLeave={() => setClosedEmail(undefined)} />
  if (session === undefined) {
    if (failures > 0 && me === undefined) return <ServiceUnavailable onRetry={refresh} />
    return me === null ? <SignInPage onSignedIn={onSignedIn} /> : <Loading />
  }
  return (
    <SessionContext.Provider value={session}>
      <Screens />
      {ended && (
        <Dialog title={words.session.ended}>
          <p>{words.session.kept}</p>
          <SignIn email={session.me.email} onSignedIn={onSignedIn} />
        </Dialog>
      )}
    </SessionContext.Provider>
  )
}

function signOut(me: Me, onLeft: () => void): void {
  if (!mayLeave()) return
  const leave = (): void => {
    onLeft()
    forgetAccounts(me.id)
  }
  call('POST', '/auth/logout', { body: {} }).then(leave, (error: unknown) => {
    if (codeOf(error) === 'unauthorized') leave()
  })
}

function Loading() {
  return (
    <main class="sign-in-page">
      <p class="quiet" role="status">
        {words.loading}
      </p>
    </main>
  )
}

function ServiceUnavailable({ onRetry }: { readonly onRetry: () => void }) {
  return (
    <main class="sign-in-page">
      <h1>{words.brand}</h1>
      <Notice tone="warn" icon="offline" urgent text={words.unavailable} />
      <Button kind="primary" text={words.tryAgain} onPress={onRetry} />
    </main>
  )
}

function ClosedPage({ email, onLeave }: { readonly email: string; readonly onLeave: () => void }) {
  const text = words.closing
  useEffect(() => {
    history.replaceState(undefined, '', pathOf('home'))
    document.title = `${text.closedTitle} · ${words.brand}`
    window.scrollTo(0, 0)
  }, [])
  return (
    <OutsidePage title={text.closedTitle} focused>
      <Notice tone="good" text={text.closed(email)} />
      <p class="quiet">{text.again}</p>
      <Button kind="primary" text={text.next} onPress={onLeave} />
    </OutsidePage>
  )
}
