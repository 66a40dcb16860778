import type { JSX } from 'preact'
import { useContext } from 'preact/hooks'
import { displayText } from '../../../kernel/money.js'
import type { SessionDescription } from '../../../sdk/client/tip.js'
import { words } from '../../i18n/checkout.js'
import { shortUsd, tokenAmount, usd } from '../../lib/money.js'
import { Checkbox } from '../../ui/fields.js'
import { Button, CopyButton, Fact, Icon, Notice } from '../../ui/kit.js'
import { impactToAccept, needed } from '../flow/pay.js'
import { chosenToken } from '../machine/form.js'
import type { PricedTip, WalletChoice } from '../machine/state.js'
import {
  Actions,
  back,
  Dispatching,
  declinedNotice,
  explorerLink,
  Heading,
  Outcome,
  payInNaira,
  press,
  retry,
  type ViewOf,
  WalletIcon,
} from './kit.js'

/** A price impact above this percentage shows a warning. */
const impactToWarn = 1
const countdownSeconds = 15

const percent = (value: number): string => `${value.toFixed(value > 0 && value < 0.1 ? 2 : 1)} %`

export function Review({ state, step }: ViewOf<'review'>) {
  const dispatch = useContext(Dispatching)
  const { pay, declined, accepted } = step
  const { input, output, quote } = pay.intent
  const impact = quote.priceImpactPct
  const mustAccept = impact > impactToAccept
  const received = tokenAmount(output.amount, output.decimals, output.symbol)
  const approve = (
    <>
      <WalletIcon wallet={pay.wallet} size={22} />
      {declined ? words.tryAgain : words.approveIn(pay.wallet.name)}
    </>
  )
  return (
    <section class="stack">
      <Heading>{words.review}</Heading>
      {declined && declinedNotice}
      <dl class="facts facts--money">
        <Fact name={words.youPay}>
          <strong>{tokenAmount(input.amount, input.decimals, input.symbol)}</strong>
          <span class="quiet"> {usd(quote.amountUsd)}</span>
        </Fact>
        <Fact name={words.fee}>{words.feeValue}</Fact>
        <Fact name={words.receives(state.session?.creator.name ?? '')}>{received}</Fact>
        <Fact name={words.impact}>{percent(impact)}</Fact>
      </dl>
      {impact > impactToWarn && <Notice tone="warn" text={words.impactWarning} />}
      {mustAccept && (
        <Checkbox
          label={words.impactAccept(percent(impact))}
          value={accepted}
          onChange={(taken) => dispatch({ type: 'accepted-impact', accepted: taken })}
        />
      )}
      <TimeLeft pay={pay} now={state.now} />
      <Actions>
        {press(approve, { type: 'approved' }, 'primary', mustAccept && !accepted)}
        {declined ? press(words.otherWallet, { type: 'other-wallet' }, 'quiet') : back}
      </Actions>
    </section>
  )
}

/** How long the price is still valid. Shown only in the last 15 seconds; screen readers do not read every second. */
function TimeLeft({ pay, now }: { readonly pay: PricedTip; readonly now: number }) {
  const seconds = Math.ceil((Date.parse(pay.intent.expiresAt) - now) / 1000)
  if (seconds > countdownSeconds || seconds < 0) return null
  return (
    <p class="quiet number" role="timer">
      {words.priceHeld(seconds)}
    </p>
  )
}

const OtherWallet = () => press(words.otherWallet, { type: 'other-wallet' })
const otherWallet = <OtherWallet />

function asking(wallet: WalletChoice, outcome: JSX.Element) {
  return (
    <section class="stack stack--centre">
      <WalletIcon wallet={wallet} size={56} />
      {outcome}
      {press(words.cancel, { type: 'cancelled' })}
    </section>
  )
}

export function Connecting({ step: { wallet } }: ViewOf<'connecting'>) {
  return asking(wallet, <Outcome tone="plain" title={words.connecting(wallet.name)} />)
}

export function Approving({ state, step: { pay } }: ViewOf<'approving'>) {
  return asking(
    pay.wallet,
    <Outcome tone="plain" title={words.approving(pay.wallet.name)} more={words.approvingMore}>
      <TimeLeft pay={pay} now={state.now} />
    </Outcome>,
  )
}

export function WrongNetwork({ step: { wallet } }: ViewOf<'wrong-network'>) {
  const title = words.wrongNetwork(wallet.name)
  return <Outcome title={title} more={words.wrongNetworkMore} actions={[retry, otherWallet]} />
}

export function Busy({ step: { wallet } }: ViewOf<'busy'>) {
  return <Outcome title={words.busy(wallet.name)} more={words.busyMore} actions={[retry]} />
}

export function NoPrice({ state, step }: ViewOf<'no-price'>) {
  const least = shortUsd(Math.max(1, state.session?.limits.minTipUsd ?? 1))
  const [title = '', more, change] = {
    'no-route': [words.noRoute(chosenToken(state)?.symbol ?? ''), words.noRouteMore, words.changeToken],
    'too-small': [words.tooSmall, words.tooSmallMore(least), words.changeAmount],
    unavailable: [words.noPrice, words.noPriceMore],
    unanswered: [words.noAnswer, words.noAnswerMore],
  }[step.reason]
  const actions = change === undefined ? [retry, back] : [press(change, { type: 'retried' }, 'primary')]
  return <Outcome title={title} more={more} actions={actions} />
}

export function QuoteExpired() {
  const newPrice = press(words.newPrice, { type: 'retried' }, 'primary')
  return <Outcome icon="wait" title={words.expired} more={words.nothingPaid} actions={[newPrice]} />
}

/** Of four decimals, rounded up. */
const solStep = 100_000n

/** The token is there, and the network's fee is taken in SOL. */
function NoSol({ state, lamports }: Pick<ViewOf<'insufficient'>, 'state'> & { readonly lamports: bigint }) {
  const sol = displayText(((lamports + solStep - 1n) / solStep) * solStep, 9)
  const naira = state.session?.fiat.enabled === true
  const actions = [payInNaira(state, <Icon name="bank" />), retry, otherWallet]
  return <Outcome title={words.needsSol} more={words.needsSolMore(sol, naira)} actions={actions} />
}

export function Insufficient({ state, step }: ViewOf<'insufficient'>) {
  if (step.missingSol !== undefined) return <NoSol state={state} lamports={BigInt(step.missingSol)} />
  const { input } = step.pay.intent
  const sol = input.symbol === 'SOL'
  // Every wallet that can pay has SOL, for the network fee.
  const other = sol ? undefined : state.session?.tokens.find(({ symbol }) => symbol === 'SOL')
  const shown = (raw: string): string => tokenAmount(raw, input.decimals, input.symbol)
  const need = shown(String(needed(step.pay.intent)))
  const parts = sol ? words.networkFeePart(displayText(BigInt(input.amount), input.decimals)) : ''
  const more =
    step.has === undefined ? words.notEnoughPlain(need) : words.notEnoughMore(need, parts, shown(step.has))
  const symbol = step.has === undefined && !sol ? `${input.symbol} or SOL` : input.symbol
  const actions = [
    other !== undefined && <PayWith token={other} />,
    press(words.otherToken, { type: 'start-over' }, other === undefined ? 'primary' : 'plain'),
    otherWallet,
    payInNaira(state),
  ]
  return <Outcome title={words.notEnough(symbol)} more={more} actions={actions} />
}

function PayWith({ token }: { readonly token: SessionDescription['tokens'][number] }) {
  const dispatch = useContext(Dispatching)
  const choose = (): void => {
    dispatch({ type: 'edited', form: { mint: token.mint } })
    dispatch({ type: 'retried' })
  }
  return <Button kind="primary" text={words.payWithToken(token.symbol)} onPress={choose} />
}

export function NotSent({ step: { detail } }: ViewOf<'not-sent'>) {
  return (
    <Outcome tone="bad" title={words.notSent} more={words.nothingPaid} actions={[retry, otherWallet]}>
      {detail !== '' && (
        <details>
          <summary>{words.details}</summary>
          <p class="quiet">{detail}</p>
        </details>
      )}
    </Outcome>
  )
}

export function FailedOnChain({ step }: ViewOf<'failed-on-chain'>) {
  const actions = [retry, explorerLink(step.payment.signature, words.details)]
  return <Outcome tone="bad" title={words.failedOnChain} more={words.failedOnChainMore} actions={actions} />
}

export function Mismatch({ state, step: { payment, received } }: ViewOf<'mismatch'>) {
  const name = state.session?.creator.name ?? ''
  const reference = payment.signature ?? payment.intentId
  const title = received === undefined ? words.mismatch : words.underpaid
  const more = received === undefined ? words.mismatchMore(name) : words.underpaidMore(name, received)
  return (
    <Outcome title={title} more={more}>
      <p class="reference">{reference}</p>
      <CopyButton value={reference} label={words.reference} named />
    </Outcome>
  )
}
