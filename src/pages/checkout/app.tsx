import type { ComponentType, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../i18n/checkout.js'
import { Announcer } from '../ui/announcer.js'
import { Button } from '../ui/button.js'
import { Notice } from '../ui/notice.js'
import { announcement } from './frame/announce.js'
import type { State, StepName } from './machine/state.js'
import { Choose } from './views/choose.js'
import * as crypto from './views/crypto-outcomes.js'
import { Blocked, Elsewhere, Phone } from './views/elsewhere.js'
import * as naira from './views/naira-steps.js'
import { Outcome } from './views/outcome.js'
import { Review } from './views/review.js'
import { Done, NairaDone, Sent } from './views/sent.js'
import { Working } from './views/slow.js'
import { Actions, type Dispatch, type ViewOf } from './views/step.js'
import { Wallets } from './views/wallets.js'
import './checkout.css'

/** A page that knows how shows a new session within this. */
const answerMs = 3000

type Views = { readonly [At in Exclude<StepName, 'elsewhere'>]: ComponentType<ViewOf<At>> }

const views: Views = {
  loading: Skeleton,
  dead: Dead,
  choose: Choose,
  wallets: Wallets,
  phone: Phone,
  blocked: Blocked,
  connecting: crypto.Connecting,
  'wrong-network': crypto.WrongNetwork,
  busy: crypto.Busy,
  pricing: crypto.Pricing,
  review: Review,
  'no-price': crypto.NoPrice,
  approving: crypto.Approving,
  'quote-expired': crypto.QuoteExpired,
  insufficient: crypto.Insufficient,
  sent: Sent,
  'not-sent': crypto.NotSent,
  'not-taken': crypto.NotTaken,
  refused: crypto.Refused,
  mismatch: crypto.Mismatch,
  done: Done,
  'naira-starting': naira.Starting,
  'naira-waiting': naira.Waiting,
  'naira-late': naira.Late,
  'naira-failed': naira.NairaFailed,
  'naira-done': NairaDone,
  'provider-down': naira.ProviderDown,
}

/** The whole checkout: the step that is, under the creator's name. */
export function App({
  state,
  dispatch,
  onShowWindow,
}: {
  readonly state: State
  readonly dispatch: Dispatch
  readonly onShowWindow: () => void
}): JSX.Element {
  const { step, session } = state
  const sheet = useRef<HTMLElement>(null)
  useFocusOfStep(sheet, step.at)
  const View = step.at === 'elsewhere' ? undefined : (views[step.at] as ComponentType<ViewOf<StepName>>)
  return (
    <main class="sheet" ref={sheet} data-step={step.at}>
      <header class="head">
        <h1 tabIndex={-1}>{session === undefined ? '\u00a0' : words.title(session.creator.name)}</h1>
        {session !== undefined && (
          <span class="head__address">{session.creator.address.replace('...', '…')}</span>
        )}
      </header>
      {state.offline && (
        <Notice tone="warn" icon="offline">
          <strong>{words.offline}</strong> {words.offlineMore}
        </Notice>
      )}
      {View === undefined ? (
        <Elsewhere dispatch={dispatch} onShow={onShowWindow} />
      ) : (
        <View state={state} step={step} dispatch={dispatch} />
      )}
      <Announcer text={announcement(state)} />
    </main>
  )
}

/** Readers and keyboards go on at the heading of the step that appeared; the first one takes no focus from the page around. */
function useFocusOfStep(sheet: { readonly current: HTMLElement | null }, at: StepName): void {
  const before = useRef<StepName>(at)
  useEffect(() => {
    if (before.current !== at && before.current !== 'loading')
      (
        sheet.current?.querySelector<HTMLElement>('[data-heading]') ?? sheet.current?.querySelector('h1')
      )?.focus()
    before.current = at
  }, [at, sheet])
}

/** A0. */
function Skeleton(): JSX.Element {
  return (
    <div class="skeleton" aria-hidden="true">
      <span />
      <span />
      <span />
      <span />
    </div>
  )
}

/** A1, once the page around has had its time to show a new session. */
function Dead({ state, step, dispatch }: ViewOf<'dead'>): JSX.Element {
  const [waiting, setWaiting] = useState(step.asked)
  useEffect(() => {
    const timer = setTimeout(() => setWaiting(false), answerMs)
    return () => clearTimeout(timer)
  }, [])
  if (waiting) return <Working text={words.asking} />
  return (
    <Outcome tone="warn" icon="warn" title={words.dead} more={words.deadMore} urgent>
      {state.framed && (
        <Actions>
          <Button kind="primary" onPress={() => dispatch({ type: 'tip-again' })}>
            {words.reload}
          </Button>
        </Actions>
      )}
    </Outcome>
  )
}
