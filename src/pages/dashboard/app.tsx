import type { JSX } from 'preact'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { words } from '../i18n/dashboard.js'
import { Button } from '../ui/button.js'
import { Dialog } from '../ui/dialog.js'
import { Notice } from '../ui/notice.js'
import type { Me } from './answers.js'
import { call, codeOf, onSessionEnd } from './api.js'
import { Screens } from './screens.js'
import { SessionContext } from './session.js'
import { Enter } from './sign-in/enter.js'
import { SignIn } from './sign-in/sign-in.js'

/** `undefined`: not known yet; `null`: nobody. */
type Who = Me | null | undefined

const readMe = (): Promise<Me> => call<{ user: Me }>('GET', '/auth/me').then(({ user }) => user)

/** The dashboard: the door, or what is behind it. */
export function App(): JSX.Element {
  const [who, setWho] = useState<Who>()
  const [away, setAway] = useState(false)
  const [ended, setEnded] = useState(false)
  const [entered, setEntered] = useState(0)
  const refresh = useCallback(() => {
    setAway(false)
    readMe().then(setWho, (error: unknown) => {
      if (codeOf(error) === 'unauthorized') setWho((before) => before ?? null)
      else setAway(true)
    })
  }, [])
  const enter = useCallback(() => {
    setEnded(false)
    setEntered((before) => before + 1)
    refresh()
  }, [refresh])
  useEffect(refresh, [refresh])
  useEffect(() => onSessionEnd(() => setEnded(true)), [])
  const session = useMemo(
    () => (who ? { me: who, entered, refresh, signOut: () => signOut(setWho, setEnded) } : undefined),
    [who, entered, refresh],
  )
  if (session === undefined)
    return away ? <ServiceAway onRetry={refresh} /> : who === null ? <Enter onEntered={enter} /> : <Loading />
  return (
    <SessionContext.Provider value={session}>
      <Screens />
      {ended && (
        <Dialog title={words.session.ended}>
          <p>{words.session.kept}</p>
          <SignIn email={session.me.email} onEntered={enter} />
        </Dialog>
      )}
    </SessionContext.Provider>
  )
}

function signOut(setWho: (who: Who) => void, setEnded: (ended: boolean) => void): void {
  const leave = (): void => {
    setWho(null)
    setEnded(false)
  }
  call('POST', '/auth/logout', { body: {} }).then(leave, (error: unknown) => {
    if (codeOf(error) === 'unauthorized') leave()
  })
}

function Loading(): JSX.Element {
  return (
    <main class="door">
      <p class="quiet" role="status">
        {words.loading}
      </p>
    </main>
  )
}

function ServiceAway({ onRetry }: { readonly onRetry: () => void }): JSX.Element {
  return (
    <main class="door">
      <h1>{words.brand}</h1>
      <Notice tone="warn" icon="offline" urgent>
        {words.away}
      </Notice>
      <Button kind="primary" onPress={onRetry}>
        {words.tryAgain}
      </Button>
    </main>
  )
}
