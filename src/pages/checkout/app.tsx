import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { words } from '../i18n/checkout.js'
import { common } from '../i18n/common.js'
import { Announcer, Notice } from '../ui/kit.js'
import type { Event } from './machine/events.js'
import type { State, StepName } from './machine/state.js'
import { isStuck } from './machine/steps.js'
import { announcement } from './views/announcement.js'
import { Choose } from './views/choose.js'
import { Dispatching, Outcome, press, retry, type ViewOf, Working } from './views/kit.js'
import * as naira from './views/naira.js'
import * as payment from './views/payment.js'
import { Done, NairaDone, NotSeen, Sent } from './views/sent.js'
import { Blocked, OtherWindow, Phone, Wallets } from './views/wallets.js'
import './checkout.css'

type Views = { readonly [At in Exclude<StepName, 'other-window'>]: ComponentType<ViewOf<At>> }

const views: Views = {
  loading: () => <Working text={common.loading} />,
  'session-over': SessionOver,
  choose: Choose,
  wallets: Wallets,
  phone: Phone,
  blocked: Blocked,
  connecting: payment.Connecting,
  'wrong-network': payment.WrongNetwork,
  busy: payment.Busy,
  pricing: () => <Working text={words.pricing} />,
  review: payment.Review,
  'no-price': payment.NoPrice,
  approving: payment.Approving,
  'quote-expired': payment.QuoteExpired,
  insufficient: payment.Insufficient,
  sent: Sent,
  'not-sent': payment.NotSent,
  'not-seen': NotSeen,
  'not-landed': () => (
    <Outcome icon="wait" title={words.notLanded} more={words.nothingPaid} actions={[retry]} />
  ),
  'failed-on-chain': payment.FailedOnChain,
  mismatch: payment.Mismatch,
  done: Done,
  'naira-starting': () => <Working text={words.starting} slowAfterMs={3000} />,
  'naira-waiting': naira.Waiting,
  'naira-late': naira.Late,
  'naira-failed': naira.NairaFailed,
  'naira-done': NairaDone,
  'naira-refused': naira.Refused,
}

interface Checkout {
  readonly state: State
  readonly dispatch: (event: Event) => void
  readonly onShowWindow: () => void
}

export function App({ state, dispatch, onShowWindow }: Checkout) {
  const { step } = state
  const sheet = useRef<HTMLElement>(null)
  useFocusOfStep(sheet, step.at)
  const View = step.at === 'other-window' ? undefined : (views[step.at] as ComponentType<ViewOf<StepName>>)
  return (
    <main class={state.page ? 'sheet sheet--page' : 'sheet'} ref={sheet} data-step={step.at}>
      {state.page ? <PageHead state={state} /> : <Head state={state} />}
      {state.offline && warning('offline', words.offline, words.offlineMore)}
      {isStuck(state) && warning('warn', words.unanswered, words.unansweredMore)}
      <Dispatching.Provider value={dispatch}>
        {View === undefined ? <OtherWindow onShow={onShowWindow} /> : <View state={state} step={step} />}
      </Dispatching.Provider>
      <Announcer text={announcement(state)} />
    </main>
  )
}

function Head({ state: { session } }: Pick<Checkout, 'state'>) {
  return (
    <header class="head">
      <h1 tabIndex={-1}>{session === undefined ? '\u00a0' : words.title(session.creator.name)}</h1>
      {session !== undefined && (
        <span class="head__address">{session.creator.address.replace('...', '…')}</span>
      )}
    </header>
  )
}

/** The document of a creator's page says above whose it is. */
function PageHead({ state: { session } }: Pick<Checkout, 'state'>) {
  return (
    <h2 class="visually-hidden" tabIndex={-1}>
      {words.title(session?.creator.name ?? '')}
    </h2>
  )
}

function warning(icon: 'offline' | 'warn', title: string, more: string) {
  return (
    <Notice tone="warn" icon={icon}>
      <strong>{title}</strong> {more}
    </Notice>
  )
}

/** Focuses the heading of a new step, for screen readers and keyboards. The first step takes no focus from the embedding page. */
function useFocusOfStep(sheet: { readonly current: HTMLElement | null }, at: StepName): void {
  const before = useRef<StepName>(at)
  useEffect(() => {
    if (before.current !== at && before.current !== 'loading')
      (
        sheet.current?.querySelector<HTMLElement>('[data-heading]') ??
        sheet.current?.querySelector<HTMLElement>('h1, h2')
      )?.focus()
    before.current = at
  }, [at, sheet])
}

/** Says that the link has expired, unless another session is on its way. */
function SessionOver({ state, step }: ViewOf<'session-over'>) {
  if (step.asked !== undefined) return <Working text={words.renewingSession} />
  const newTip = press(words.newTip, { type: 'tip-again' }, 'primary')
  const more = state.framed ? words.sessionOverFramed : words.sessionOverMore
  return <Outcome title={words.sessionOver} more={more} actions={[state.framed && newTip]} />
}
