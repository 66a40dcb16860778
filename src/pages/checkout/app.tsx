import type { ComponentType, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { words } from '../i18n/checkout.js'
import { Button } from '../ui/controls/button.js'
import { Announcer } from '../ui/messages/announcer.js'
import { Notice } from '../ui/messages/notice.js'
import type { State, StepName } from './machine/state.js'
import { isStuck } from './machine/stuck.js'
import { announcement } from './views/announcement.js'
import { Choose } from './views/choose.js'
import * as crypto from './views/crypto-outcomes.js'
import * as naira from './views/naira-steps.js'
import { Blocked, OtherWindow, Phone } from './views/other-window.js'
import { Outcome } from './views/outcome.js'
import { Review } from './views/review.js'
import { Done, NairaDone, Sent } from './views/sent.js'
import { Actions, type Dispatch, type ViewOf } from './views/step.js'
import { Wallets } from './views/wallets.js'
import { Working } from './views/working.js'
import './checkout.css'

type Views = { readonly [At in Exclude<StepName, 'other-window'>]: ComponentType<ViewOf<At>> }

const views: Views = {
  loading: Skeleton,
  'session-over': SessionOver,
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
  'not-landed': crypto.NotLanded,
  'failed-on-chain': crypto.FailedOnChain,
  mismatch: crypto.Mismatch,
  done: Done,
  'naira-starting': naira.Starting,
  'naira-waiting': naira.Waiting,
  'naira-late': naira.Late,
  'naira-failed': naira.NairaFailed,
  'naira-done': NairaDone,
  'naira-refused': naira.Refused,
}

/** The checkout: the creator's name and the current step. */
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
  const View = step.at === 'other-window' ? undefined : (views[step.at] as ComponentType<ViewOf<StepName>>)
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
      {isStuck(state) && (
        <Notice tone="warn" icon="warn">
          <strong>{words.unanswered}</strong> {words.unansweredMore}
        </Notice>
      )}
      {View === undefined ? (
        <OtherWindow dispatch={dispatch} onShow={onShowWindow} />
      ) : (
        <View state={state} step={step} dispatch={dispatch} />
      )}
      <Announcer text={announcement(state)} />
    </main>
  )
}

/** Focuses the heading of a new step, for screen readers and keyboards. The first step takes no focus from the embedding page. */
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

/** Says that the link has expired, unless another session is on its way. */
function SessionOver({ state, step, dispatch }: ViewOf<'session-over'>): JSX.Element {
  if (step.asked !== undefined) return <Working text={words.renewingSession} />
  return (
    <Outcome
      tone="warn"
      icon="warn"
      title={words.sessionOver}
      more={state.framed ? words.sessionOverFramed : words.sessionOverMore}
      urgent
    >
      {state.framed && (
        <Actions>
          <Button kind="primary" onPress={() => dispatch({ type: 'tip-again' })}>
            {words.newTip}
          </Button>
        </Actions>
      )}
    </Outcome>
  )
}
