import { words } from '../../i18n/checkout.js'
import { ngn } from '../../lib/money.js'
import { CopyButton, Fact } from '../../ui/kit.js'
import type { NairaTip } from '../machine/state.js'
import { rangeText } from './amounts.js'
import { back, Heading, linkOut, Outcome, press, spinning, statusLink, type ViewOf } from './kit.js'

const minuteMs = 60_000
/** The countdown is shown in the last five minutes. */
const countdownMs = 5 * minuteMs

/** Returns to the form, which then offers the way back to this payment. */
const Leave = () => press(words.leave, { type: 'start-over' }, 'quiet')
const leave = <Leave />

/** Waits for the payment: shows the bank account, or a link to the provider's page. */
export function Waiting({ state, step }: ViewOf<'naira-waiting'>) {
  const { tip, markedSent } = step
  const { account } = tip
  if (account === undefined) {
    const lostTab = <p class="quiet small">{words.lostTab}</p>
    const actions = [linkOut(words.openPayment, tip.checkoutUrl ?? '', 'primary'), lostTab, leave]
    const text = { title: words.finishInOtherTab, more: words.finishInOtherTabMore }
    return <Outcome tone="plain" icon="out" {...text} actions={actions} />
  }
  const amount = ngn(tip.amountNgn)
  // For display. The copy button copies the whole reference.
  const reference = `${tip.intentId.slice(0, 12)}…${tip.intentId.slice(-6)}`
  return (
    <section class="stack">
      {markedSent ? (
        <Outcome tone="plain" title={words.searching} more={words.searchingMore} />
      ) : (
        <div>
          <Heading>{words.send(amount)}</Heading>
          <p>{words.sendMore}</p>
        </div>
      )}
      <dl class="facts">
        <Fact name={words.sendAmount} copied={tip.amountNgn.toFixed(2)}>
          {amount}
        </Fact>
        <Fact name={words.bank}>{account.bank}</Fact>
        <Fact name={words.accountNumber} copied={account.number}>
          <strong class="account">{account.number}</strong>
        </Fact>
        <Fact name={words.accountName}>{account.name}</Fact>
        <Fact name={words.referenceTerm} copied={tip.intentId}>
          {reference}
        </Fact>
      </dl>
      <Until tip={tip} now={state.now} />
      {!markedSent && (
        <>
          {spinning(words.waiting)}
          {press(words.markSent, { type: 'marked-sent' }, 'primary')}
        </>
      )}
      {leave}
    </section>
  )
}

/** The time at which the account expires; in the last minutes a countdown. */
function Until({ tip, now }: { readonly tip: NairaTip; readonly now: number }) {
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
export function Late({ step }: ViewOf<'naira-late'>) {
  const more = (
    <>
      {words.lateMore} <strong>{words.lateSent}</strong>
    </>
  )
  const { markedSent } = step
  const actions = [
    press(words.startAgain, { type: 'start-over' }, markedSent ? 'plain' : 'primary'),
    markedSent
      ? spinning(`${words.searching} ${words.searchingMore}`)
      : press(words.markSent, { type: 'marked-sent' }),
    statusLink(step.tip.statusUrl),
  ]
  return <Outcome icon="wait" title={words.late} more={more} actions={actions} />
}

/** Nothing arrived, or too little: says where the money is and whom to ask. */
export function NairaFailed({ state, step }: ViewOf<'naira-failed'>) {
  const { tip, receivedNgn } = step
  const name = state.session?.creator.name ?? ''
  const short = receivedNgn !== undefined
  const decidable = short && tip.statusUrl !== undefined
  const actions = [
    decidable && linkOut(words.decideShort, tip.statusUrl, 'primary'),
    press(words.startAgain, { type: 'start-over' }, decidable ? 'plain' : 'primary'),
    !decidable && statusLink(tip.statusUrl),
    <CopyButton key="copy" value={tip.intentId} label={words.reference} named />,
  ]
  return (
    <Outcome
      tone={short ? 'warn' : 'bad'}
      title={short ? words.nairaShort(ngn(receivedNgn)) : words.nairaFailed}
      more={short ? words.nairaShortMore(ngn(tip.amountNgn), name) : words.nairaFailedMore(name)}
      actions={actions}
    >
      <p class="reference">{tip.intentId}</p>
    </Outcome>
  )
}

/** The payment was not started, so nothing was paid. */
export function Refused({ state, step }: ViewOf<'naira-refused'>) {
  const [title = '', more] = {
    amount: [words.nairaAmountRefused, `${words.nothingPaid} ${rangeText(state) ?? ''}`],
    'too-many': [words.nairaTooMany, words.nairaTooManyMore],
    unanswered: [words.noAnswer, words.noAnswerMore],
    provider: [words.providerDown, words.nothingPaid],
    refused: [words.nairaRefused, words.nothingPaid],
  }[step.reason]
  const wrongAmount = step.reason === 'amount'
  const actions = [
    press(wrongAmount ? words.changeAmount : words.tryAgain, { type: 'retried' }, 'primary'),
    press(words.payWallet, { type: 'start-over', method: 'crypto' }),
    !wrongAmount && back,
  ]
  return <Outcome title={title} more={more} actions={actions} />
}
