import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { ngn, tokenAmount, usd } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Icon } from '../../ui/icon.js'
import { slowSentMs } from '../machine/pauses.js'
import { Outcome } from './outcome.js'
import { Actions, type Dispatch, explorerLink, type ViewOf } from './step.js'

/** Money may be moving, so this view never says that the payment failed. */
export function Sent({ state, step }: ViewOf<'sent'>): JSX.Element {
  const slow = state.now - step.since > slowSentMs
  const { signature } = step.payment
  return (
    <section class="stack">
      <Outcome
        tone="plain"
        icon="wait"
        title={slow ? words.sentSlow : words.sent}
        more={slow ? words.sentSlowMore : words.sentMore}
      />
      <ol class="stepper" aria-label={words.steps}>
        <ProgressStep state="done" text={words.approvedStep} />
        <ProgressStep state="now" text={words.sentStep} />
        <ProgressStep state="open" text={words.confirmedStep} />
      </ol>
      {signature !== null && <Actions>{explorerLink(signature, words.viewTransaction)}</Actions>}
    </section>
  )
}

function ProgressStep({
  state,
  text,
}: {
  readonly state: 'done' | 'now' | 'open'
  readonly text: string
}): JSX.Element {
  const stateText = { done: words.stepDone, now: words.stepNow, open: undefined }[state]
  return (
    <li class={`stepper__mark stepper__mark--${state}`} {...(state === 'now' && { 'aria-current': 'step' })}>
      <span class="stepper__dot">{state === 'done' && <Icon name="tick" size={14} />}</span>
      {text}
      {stateText !== undefined && <span class="visually-hidden"> {stateText}</span>}
    </li>
  )
}

/** The service has confirmed the crypto tip, which ends the session. */
export function Done({ state, step, dispatch }: ViewOf<'done'>): JSX.Element {
  const { input, output, quote, signature } = step.intent
  const received = tokenAmount(output.amount, output.decimals, output.symbol)
  const paid = `${tokenAmount(input.amount, input.decimals, input.symbol)} (${usd(quote.amountUsd)})`
  return (
    <Thanks
      title={words.done(state.session?.creator.name ?? '', received)}
      amount={paid}
      message={state.form.message}
      at={step.completedAt}
      reference={signature ?? step.intent.intentId}
      dispatch={dispatch}
    >
      {signature !== null && explorerLink(signature, words.viewReceipt)}
    </Thanks>
  )
}

/** The service has confirmed the naira tip. */
export function NairaDone({ state, step, dispatch }: ViewOf<'naira-done'>): JSX.Element {
  const { amountNgn, amountUsd, intentId, email } = step.tip
  return (
    <Thanks
      title={words.nairaDone(ngn(amountNgn))}
      more={email ? words.receiptSent : undefined}
      amount={`${ngn(amountNgn)} (${usd(amountUsd)})`}
      message={state.form.message}
      at={step.completedAt}
      reference={intentId}
      dispatch={dispatch}
    />
  )
}

function Thanks({
  title,
  more,
  amount,
  message,
  at,
  reference,
  dispatch,
  children,
}: {
  readonly title: string
  readonly more?: string | undefined
  readonly amount: string
  readonly message: string
  readonly at: number
  readonly reference: string
  readonly dispatch: Dispatch
  readonly children?: JSX.Element | false
}): JSX.Element {
  return (
    <Outcome tone="good" icon="tick" title={title} more={more}>
      <dl class="sums number">
        <div>
          <dt>{words.amount}</dt>
          <dd>{amount}</dd>
        </div>
        {message !== '' && (
          <div>
            <dt>{words.message}</dt>
            <dd>
              <bdi>{message}</bdi>
            </dd>
          </div>
        )}
        <div>
          <dt>{words.time}</dt>
          <dd>{new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}</dd>
        </div>
        <div>
          <dt>{words.referenceTerm}</dt>
          <dd class="row">
            <span class="reference" title={reference}>
              {`${reference.slice(0, 8)}…${reference.slice(-6)}`}
            </span>
            <CopyButton value={reference} label={words.reference} />
          </dd>
        </div>
      </dl>
      <Actions>
        <Button kind="primary" onPress={() => dispatch({ type: 'tip-again' })}>
          {words.tipAgain}
        </Button>
        {children}
      </Actions>
    </Outcome>
  )
}
