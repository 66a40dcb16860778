import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { displayUnits, shortUsd, tokenAmount } from '../../lib/money.js'
import { Button } from '../../ui/button.js'
import { CopyButton } from '../../ui/copy-button.js'
import { needed } from '../flow/pay.js'
import { chosenToken } from '../machine/form.js'
import { explorerLink } from './explorer.js'
import { Outcome } from './outcome.js'
import { Left } from './review.js'
import { Working } from './slow.js'
import { Actions, type Dispatch, type ViewOf } from './step.js'
import { WalletIcon } from './wallets.js'

const again = (dispatch: Dispatch, text: string = words.tryAgain): JSX.Element => (
  <Button kind="primary" onPress={() => dispatch({ type: 'retried' })}>
    {text}
  </Button>
)
const other = (dispatch: Dispatch): JSX.Element => (
  <Button onPress={() => dispatch({ type: 'other-wallet' })}>{words.otherWallet}</Button>
)

/** C1. */
export function Connecting({ step, dispatch }: ViewOf<'connecting'>): JSX.Element {
  return (
    <section class="stack stack--centre">
      <WalletIcon wallet={step.wallet} size={56} />
      <Outcome tone="plain" icon="wait" title={words.connecting(step.wallet.name)} />
      <Button onPress={() => dispatch({ type: 'cancelled' })}>{words.cancel}</Button>
    </section>
  )
}

/** C2. */
export function WrongNetwork({ step, dispatch }: ViewOf<'wrong-network'>): JSX.Element {
  return (
    <Outcome
      tone="warn"
      icon="warn"
      title={words.wrongNetwork(step.wallet.name)}
      more={words.wrongNetworkMore}
      urgent
    >
      <Actions>
        {again(dispatch)}
        {other(dispatch)}
      </Actions>
    </Outcome>
  )
}

/** C3. */
export function Busy({ step, dispatch }: ViewOf<'busy'>): JSX.Element {
  return (
    <Outcome tone="warn" icon="warn" title={words.busy(step.wallet.name)} more={words.busyMore} urgent>
      <Actions>{again(dispatch)}</Actions>
    </Outcome>
  )
}

/** D1. */
export function Pricing(): JSX.Element {
  return <Working text={words.pricing} />
}

/** D3. */
export function NoPrice({ state, step, dispatch }: ViewOf<'no-price'>): JSX.Element {
  const least = shortUsd(Math.max(1, state.session?.limits.minTipUsd ?? 1))
  const said = {
    route: [words.noRoute(chosenToken(state)?.symbol ?? ''), words.noRouteMore],
    small: [words.tooSmall, words.tooSmallMore(least)],
    away: [words.noPrice, words.noPriceMore],
  }[step.reason]
  return (
    <Outcome tone="warn" icon="warn" title={said[0] ?? ''} more={said[1]} urgent>
      <Actions>{again(dispatch, words.changeToken)}</Actions>
    </Outcome>
  )
}

/** E1. */
export function Approving({ state, step, dispatch }: ViewOf<'approving'>): JSX.Element {
  const { wallet } = step.pay
  return (
    <section class="stack stack--centre">
      <WalletIcon wallet={wallet} size={56} />
      <Outcome tone="plain" icon="wait" title={words.approving(wallet.name)} more={words.approvingMore}>
        <Left pay={step.pay} now={state.now} />
      </Outcome>
      <Button onPress={() => dispatch({ type: 'cancelled' })}>{words.cancel}</Button>
    </section>
  )
}

/** E3. */
export function QuoteExpired({ dispatch }: ViewOf<'quote-expired'>): JSX.Element {
  return (
    <Outcome tone="warn" icon="wait" title={words.expired} more={words.nothingPaid} urgent>
      <Actions>{again(dispatch, words.newPrice)}</Actions>
    </Outcome>
  )
}

/** E4. */
export function Insufficient({ state, step, dispatch }: ViewOf<'insufficient'>): JSX.Element {
  const { input } = step.pay.intent
  const sol = input.symbol === 'SOL'
  const shown = (raw: string): string => tokenAmount(raw, input.decimals, input.symbol)
  const need = shown(String(needed(step.pay.intent)))
  const parts = sol ? words.networkFeePart(displayUnits(input.amount, input.decimals)) : ''
  const more =
    step.has === undefined ? words.notEnoughPlain(need) : words.notEnoughMore(need, parts, shown(step.has))
  const symbol = step.has === undefined && !sol ? `${input.symbol} or SOL` : input.symbol
  return (
    <Outcome tone="warn" icon="warn" title={words.notEnough(symbol)} more={more} urgent>
      <Actions>
        <Button kind="primary" onPress={() => dispatch({ type: 'start-over' })}>
          {words.otherToken}
        </Button>
        {other(dispatch)}
        {state.session?.fiat.enabled && (
          <Button onPress={() => dispatch({ type: 'start-over', method: 'naira' })}>
            {words.payInNaira}
          </Button>
        )}
      </Actions>
    </Outcome>
  )
}

/** F3. */
export function NotSent({ step, dispatch }: ViewOf<'not-sent'>): JSX.Element {
  return (
    <Outcome tone="bad" icon="cross" title={words.notSent} more={words.nothingPaid} urgent>
      {step.detail !== '' && (
        <details>
          <summary>{words.details}</summary>
          <p class="quiet">{step.detail}</p>
        </details>
      )}
      <Actions>
        {again(dispatch)}
        {other(dispatch)}
      </Actions>
    </Outcome>
  )
}

/** F4. */
export function NotTaken({ dispatch }: ViewOf<'not-taken'>): JSX.Element {
  return (
    <Outcome tone="warn" icon="wait" title={words.notTaken} more={words.nothingPaid} urgent>
      <Actions>{again(dispatch)}</Actions>
    </Outcome>
  )
}

/** F5. */
export function Refused({ step, dispatch }: ViewOf<'refused'>): JSX.Element {
  const { signature } = step.payment
  return (
    <Outcome tone="bad" icon="cross" title={words.refused} more={words.refusedMore} urgent>
      <Actions>
        {again(dispatch)}
        {signature !== null && explorerLink(signature, words.details)}
      </Actions>
    </Outcome>
  )
}

/** F6. */
export function Mismatch({ step }: ViewOf<'mismatch'>): JSX.Element {
  const { signature, intentId } = step.payment
  const reference = signature ?? intentId
  return (
    <Outcome tone="warn" icon="warn" title={words.mismatch} more={words.mismatchMore} urgent>
      <p class="reference">{reference}</p>
      <CopyButton value={reference} label={words.reference} named />
    </Outcome>
  )
}
