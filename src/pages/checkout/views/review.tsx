import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { tokenAmount, usd } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import { Checkbox } from '../../ui/controls/checkbox.js'
import { Notice } from '../../ui/messages/notice.js'
import { impactToAccept } from '../flow/pay.js'
import type { PricedTip } from '../machine/state.js'
import { Actions, Heading, type ViewOf } from './step.js'
import { WalletIcon } from './wallets.js'

/** A price impact above this percentage shows a warning. */
const impactToWarn = 1
const countdownSeconds = 15

/** The details of the payment, before the wallet asks for approval. */
export function Review({ state, step, dispatch }: ViewOf<'review'>): JSX.Element {
  const { pay, declined, accepted } = step
  const impact = pay.intent.quote.priceImpactPct
  const mustAccept = impact > impactToAccept
  return (
    <section class="stack">
      <Heading>{words.review}</Heading>
      {declined && (
        <Notice tone="warn" icon="warn" urgent>
          <strong>{words.declined}</strong> {words.nothingPaid}
        </Notice>
      )}
      <Sums pay={pay} name={state.session?.creator.name ?? ''} />
      {impact > impactToWarn && (
        <Notice tone="warn" icon="warn">
          {words.impactWarning}
        </Notice>
      )}
      {mustAccept && (
        <Checkbox
          label={words.impactAccept(percent(impact))}
          value={accepted}
          onChange={(taken) => dispatch({ type: 'accepted-impact', accepted: taken })}
        />
      )}
      <TimeLeft pay={pay} now={state.now} />
      <Actions>
        <Button kind="primary" busy={mustAccept && !accepted} onPress={() => dispatch({ type: 'approved' })}>
          <WalletIcon wallet={pay.wallet} size={22} />
          {declined ? words.tryAgain : words.approveIn(pay.wallet.name)}
        </Button>
        <Button kind="quiet" onPress={() => dispatch({ type: declined ? 'other-wallet' : 'start-over' })}>
          {declined ? words.otherWallet : words.back}
        </Button>
      </Actions>
    </section>
  )
}

function Sums({ pay, name }: { readonly pay: PricedTip; readonly name: string }): JSX.Element {
  const { input, output, quote } = pay.intent
  return (
    <dl class="sums number">
      <div>
        <dt>{words.youPay}</dt>
        <dd>
          <strong>{tokenAmount(input.amount, input.decimals, input.symbol)}</strong>
          <span class="quiet"> {usd(quote.amountUsd)}</span>
        </dd>
      </div>
      <div>
        <dt>{words.fee}</dt>
        <dd>{words.feeValue}</dd>
      </div>
      <div>
        <dt>{words.receives(name)}</dt>
        <dd>{tokenAmount(output.amount, output.decimals, output.symbol)}</dd>
      </div>
      <div>
        <dt>{words.impact}</dt>
        <dd>{percent(quote.priceImpactPct)}</dd>
      </div>
    </dl>
  )
}

const percent = (value: number): string => `${value.toFixed(value > 0 && value < 0.1 ? 2 : 1)} %`

/** How long the price is still valid. Shown only in the last 15 seconds; screen readers do not read every second. */
export function TimeLeft({
  pay,
  now,
}: {
  readonly pay: PricedTip
  readonly now: number
}): JSX.Element | null {
  const seconds = Math.ceil((Date.parse(pay.intent.expiresAt) - now) / 1000)
  if (seconds > countdownSeconds || seconds < 0) return null
  return (
    <p class="quiet number" role="timer">
      {words.priceHeld(seconds)}
    </p>
  )
}
