import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { ngn } from '../../lib/money.js'
import { Button, LinkButton } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Icon } from '../../ui/icon.js'
import type { NairaTip } from '../machine/state.js'
import { rangeText } from './amounts.js'
import { Outcome } from './outcome.js'
import { Actions, Back, type Dispatch, Heading, type ViewOf } from './step.js'
import { Working } from './working.js'

const minuteMs = 60_000
/** The countdown is shown in the last five minutes. */
const countdownMs = 5 * minuteMs

export function Starting(): JSX.Element {
  return <Working text={words.starting} />
}

/** Waits for the payment: shows the bank account, or a link to the provider's page. */
export function Waiting(props: ViewOf<'naira-waiting'>): JSX.Element {
  const { tip } = props.step
  return tip.account === undefined ? (
    <ProviderPage {...props} />
  ) : (
    <Transfer {...props} account={tip.account} />
  )
}

function ProviderPage({ step, dispatch }: ViewOf<'naira-waiting'>): JSX.Element {
  return (
    <Outcome tone="plain" icon="out" title={words.finishInOtherTab} more={words.finishInOtherTabMore}>
      <Actions>
        <LinkButton kind="primary" href={step.tip.checkoutUrl ?? ''} newTab>
          {words.openPayment} <Icon name="out" />
        </LinkButton>
        <p class="quiet small">{words.lostTab}</p>
        <Leave dispatch={dispatch} />
      </Actions>
    </Outcome>
  )
}

function Transfer({
  state,
  step,
  dispatch,
  account,
}: ViewOf<'naira-waiting'> & { readonly account: NonNullable<NairaTip['account']> }): JSX.Element {
  const { tip, markedSent } = step
  const amount = ngn(tip.amountNgn)
  return (
    <section class="stack">
      {markedSent ? (
        <Outcome tone="plain" icon="wait" title={words.searching} more={words.searchingMore} />
      ) : (
        <div>
          <Heading>{words.send(amount)}</Heading>
          <p>{words.sendMore}</p>
        </div>
      )}
      <dl class="sums sums--stacked number">
        <Line term={words.sendAmount} value={amount} copied={tip.amountNgn.toFixed(2)} />
        <Line term={words.bank} value={account.bank} />
        <Line term={words.accountNumber} value={account.number} copied={account.number} strong />
        <Line term={words.accountName} value={account.name} />
        <Line term={words.referenceTerm} value={shortReference(tip.intentId)} copied={tip.intentId} />
      </dl>
      <Until tip={tip} now={state.now} />
      {!markedSent && (
        <>
          <p class="working">
            <span class="spinner" aria-hidden="true" />
            <span>{words.waiting}</span>
          </p>
          <Button kind="primary" onPress={() => dispatch({ type: 'marked-sent' })}>
            {words.markSent}
          </Button>
        </>
      )}
      <Leave dispatch={dispatch} />
    </section>
  )
}

/** Returns to the form, which then offers the way back to this payment. */
function Leave({ dispatch }: { readonly dispatch: Dispatch }): JSX.Element {
  return (
    <Button kind="quiet" onPress={() => dispatch({ type: 'start-over' })}>
      {words.leave}
    </Button>
  )
}

function Line({
  term,
  value,
  copied,
  strong = false,
}: {
  readonly term: string
  readonly value: string
  readonly copied?: string
  readonly strong?: boolean
}): JSX.Element {
  return (
    <div>
      <dt>{term}</dt>
      <dd class="row">
        {strong ? <strong class="account">{value}</strong> : <span>{value}</span>}
        {copied !== undefined && <CopyButton value={copied} label={term.toLowerCase()} />}
      </dd>
    </div>
  )
}

/** For display. The copy button copies the whole reference. */
const shortReference = (id: string): string => `${id.slice(0, 12)}…${id.slice(-6)}`

/** The time at which the account expires; in the last minutes a countdown. */
function Until({ tip, now }: { readonly tip: NairaTip; readonly now: number }): JSX.Element {
  const end = Date.parse(tip.expiresAt)
  const left = Math.max(0, end - now)
  if (left > countdownMs) {
    const time = new Date(end).toLocaleTimeString('en-GB', { timeStyle: 'short' })
    return <p class="quiet number">{words.until(time, Math.ceil(left / minuteMs))}</p>
  }
  const seconds = String(Math.floor((left % minuteMs) / 1000)).padStart(2, '0')
  return (
    <p class="quiet number" role="timer">
      {words.left(`${Math.floor(left / minuteMs)}:${seconds}`)}
    </p>
  )
}

/** The intent has expired. A payment that arrives later still counts. */
export function Late({ step, dispatch }: ViewOf<'naira-late'>): JSX.Element {
  return (
    <Outcome
      tone="warn"
      icon="wait"
      title={words.late}
      more={
        <>
          {words.lateMore} <strong>{words.lateSent}</strong>
        </>
      }
      urgent
    >
      <Actions>
        <Button kind={step.markedSent ? 'plain' : 'primary'} onPress={() => dispatch({ type: 'start-over' })}>
          {words.startAgain}
        </Button>
        {step.markedSent ? (
          <p class="working">
            <span class="spinner" aria-hidden="true" />
            <span>
              {words.searching} {words.searchingMore}
            </span>
          </p>
        ) : (
          <Button onPress={() => dispatch({ type: 'marked-sent' })}>{words.markSent}</Button>
        )}
      </Actions>
    </Outcome>
  )
}

/** Nothing arrived, or too little: says where the money is and whom to ask. */
export function NairaFailed({ state, step, dispatch }: ViewOf<'naira-failed'>): JSX.Element {
  const { tip, receivedNgn } = step
  const { intentId } = tip
  const name = state.session?.creator.name ?? ''
  const short = receivedNgn !== undefined
  return (
    <Outcome
      tone={short ? 'warn' : 'bad'}
      icon={short ? 'warn' : 'cross'}
      title={short ? words.nairaShort(ngn(receivedNgn)) : words.nairaFailed}
      more={short ? words.nairaShortMore(ngn(tip.amountNgn)) : words.nairaFailedMore(name)}
      urgent
    >
      {short && <p>{tip.email ? words.nairaShortMailed : words.nairaShortAsk(name)}</p>}
      <p class="reference">{intentId}</p>
      <Actions>
        <Button kind="primary" onPress={() => dispatch({ type: 'start-over' })}>
          {words.startAgain}
        </Button>
        <CopyButton value={intentId} label={words.reference} named />
      </Actions>
    </Outcome>
  )
}

/** The payment was not started, so nothing was paid. */
export function Refused({ state, step, dispatch }: ViewOf<'naira-refused'>): JSX.Element {
  const [title, more] = {
    amount: [words.nairaAmountRefused, `${words.nothingPaid} ${rangeText(state) ?? ''}`],
    'too-many': [words.nairaTooMany, words.nairaTooManyMore],
    unanswered: [words.noAnswer, words.noAnswerMore],
    provider: [words.providerDown, words.nothingPaid],
    refused: [words.nairaRefused, words.nothingPaid],
  }[step.reason]
  return (
    <Outcome tone="warn" icon="warn" title={title ?? ''} more={more} urgent>
      <Actions>
        <Button kind="primary" onPress={() => dispatch({ type: 'retried' })}>
          {step.reason === 'amount' ? words.changeAmount : words.tryAgain}
        </Button>
        <Button onPress={() => dispatch({ type: 'start-over', method: 'crypto' })}>{words.payWallet}</Button>
        {step.reason !== 'amount' && <Back dispatch={dispatch} />}
      </Actions>
    </Outcome>
  )
}
