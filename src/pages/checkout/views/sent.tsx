import type { ComponentChildren } from 'preact'
import { words } from '../../i18n/checkout.js'
import { ngn, tokenAmount, usd } from '../../lib/money.js'
import { Fact, Steps } from '../../ui/kit.js'
import { slowSentMs } from '../watch.js'
import { Actions, explorerLink, Outcome, press, retry, statusLink, type ViewOf } from './kit.js'

/** Money may be moving, so this view never says that the payment failed. */
export function Sent({ state, step }: ViewOf<'sent'>) {
  const slow = state.now - step.since > slowSentMs
  const link = explorerLink(step.payment.signature, words.viewTransaction)
  return (
    <section class="stack">
      <Outcome
        tone="plain"
        title={slow ? words.sentSlow : words.sent}
        more={slow ? words.sentSlowMore : words.sentMore}
      />
      <Steps label={words.steps} steps={[words.approvedStep, words.sentStep, words.confirmedStep]} at={1} />
      {link && <Actions>{link}</Actions>}
    </section>
  )
}

/** The payment may have been made, so this view never says that nothing was paid. */
export function NotSeen({ step }: ViewOf<'not-seen'>) {
  const link = explorerLink(step.payment.signature, words.viewTransaction)
  return <Outcome icon="wait" title={words.notSeen} more={words.notSeenMore} actions={[link, retry]} />
}

/** The service has confirmed the crypto tip, which ends the session. */
export function Done({ state, step }: ViewOf<'done'>) {
  const { input, output, quote, signature, statusUrl } = step.intent
  const received = tokenAmount(output.amount, output.decimals, output.symbol)
  const name = state.session?.creator.name ?? ''
  return (
    <Thanks
      title={words.done(name, received)}
      amount={`${tokenAmount(input.amount, input.decimals, input.symbol)} (${usd(quote.amountUsd)})`}
      fee={words.feeValue}
      receives={[words.receives(name), received]}
      statusUrl={statusUrl}
      message={state.form.message}
      thanks={state.session?.thanks}
      at={step.completedAt}
      reference={signature ?? step.intent.intentId}
    >
      {explorerLink(signature, words.viewReceipt)}
    </Thanks>
  )
}

export function NairaDone({ state, step }: ViewOf<'naira-done'>) {
  const { amountNgn, receivedUsd, intentId, email, statusUrl } = step.tip
  return (
    <Thanks
      title={words.nairaDone(ngn(amountNgn))}
      more={email && words.receiptSent}
      amount={ngn(amountNgn)}
      fee={words.nairaFee}
      receives={[words.receives(state.session?.creator.name ?? ''), usd(receivedUsd)]}
      statusUrl={statusUrl}
      message={state.form.message}
      thanks={state.session?.thanks}
      at={step.completedAt}
      reference={intentId}
    />
  )
}

interface Receipt {
  readonly title: string
  readonly more?: ComponentChildren
  readonly amount: string
  /** As the form said. */
  readonly fee: string
  readonly receives: readonly [name: string, amount: string]
  readonly statusUrl: string | undefined
  readonly message: string
  /** The creator's own words. */
  readonly thanks: string | undefined
  readonly at: number
  readonly reference: string
  readonly children?: ComponentChildren
}

function Thanks({
  title,
  more,
  amount,
  fee,
  receives,
  message,
  thanks,
  at,
  reference,
  statusUrl,
  children,
}: Receipt) {
  const time = new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
  const again = press(words.tipAgain, { type: 'tip-again' }, 'primary')
  return (
    <Outcome tone="good" title={title} more={more} actions={[again, statusLink(statusUrl), children]}>
      {thanks !== undefined && (
        <blockquote class="thanks">
          <bdi>{thanks}</bdi>
        </blockquote>
      )}
      <dl class="facts facts--money">
        <Fact name={words.amount}>{amount}</Fact>
        <Fact name={words.fee}>{fee}</Fact>
        <Fact name={receives[0]}>{receives[1]}</Fact>
        {message !== '' && (
          <Fact name={words.message}>
            <bdi>{message}</bdi>
          </Fact>
        )}
        <Fact name={words.time}>{time}</Fact>
        <Fact name={words.referenceTerm} copied={reference} label={words.reference}>
          <span class="reference" title={reference}>
            {`${reference.slice(0, 8)}…${reference.slice(-6)}`}
          </span>
        </Fact>
      </dl>
    </Outcome>
  )
}
