import type { JSX } from 'preact'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { words } from '../i18n/dashboard.js'
import { Button } from '../ui/controls/button.js'
import { Dialog } from '../ui/messages/dialog.js'
import { Notice } from '../ui/messages/notice.js'
import type { Me } from './answers.js'
import { call, codeOf, onSessionEnd } from './api.js'
import { useRetry } from './connection.js'
import { mayLeave } from './route.js'
import { Screens } from './screens.js'
import { SessionContext } from './session.js'
import { linkToken } from './sign-in/link-sign-in.js'
import { SignIn } from './sign-in/sign-in.js'
import { SignInPage } from './sign-in/sign-in-page.js'
import { forgetAccounts } from './withdraw/draft.js'

/** `undefined`: not known yet; `null`: not signed in. */
type SignedIn = Me | null | undefined

const readMe = (): Promise<Me> => call<{ user: Me }>('GET', '/auth/me').then(({ user }) => user)

/** Shows the sign-in page, or the dashboard of the signed-in creator. */
export function App(): JSX.Element {
  const [me, setMe] = useState<SignedIn>()
  const [failures, setFailures] = useState(0)
  const [ended, setEnded] = useState(false)
  const [signIns, setSignIns] = useState(0)
  const refresh = useCallback(() => {
    const read = (known: SignedIn): void => {
      setMe(known)
      setFailures(0)
    }
    readMe().then(read, (error: unknown) => {
      if (codeOf(error) === 'unauthorized') setMe((before) => before ?? null)
      else setFailures((before) => before + 1)
    })
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
  useEffect(() => onSessionEnd(() => setEnded(true)), [])
  const session = useMemo(
    () => (me ? { me, signIns, refresh, signOut: () => signOut(me, setMe, setEnded) } : undefined),
    [me, signIns, refresh],
  )
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

function signOut(me: Me, setMe: (me: SignedIn) => void, setEnded: (ended: boolean) => void): void {
  if (!mayLeave()) return
  const leave = (): void => {
    setMe(null)
    setEnded(false)
    forgetAccounts(me.id)
  }
  call('POST', '/auth/logout', { body: {} }).then(leave, (error: unknown) => {
    if (codeOf(error) === 'unauthorized') leave()
  })
}

function Loading(): JSX.Element {
  return (
    <main class="sign-in-page">
      <p class="quiet" role="status">
        {words.loading}
      </p>
    </main>
  )
}

function ServiceUnavailable({ onRetry }: { readonly onRetry: () => void }): JSX.Element {
  return (
    <main class="sign-in-page">
      <h1>{words.brand}</h1>
      <Notice tone="warn" icon="offline" urgent>
        {words.unavailable}
      </Notice>
      <Button kind="primary" onPress={onRetry}>
        {words.tryAgain}
      </Button>
    </main>
  )
}
