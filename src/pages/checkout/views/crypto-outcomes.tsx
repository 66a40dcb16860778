import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { displayUnits, shortUsd, tokenAmount } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { needed } from '../flow/pay.js'
import { chosenToken } from '../machine/form.js'
import { Outcome } from './outcome.js'
import { TimeLeft } from './review.js'
import { Actions, Back, type Dispatch, explorerLink, type ViewOf } from './step.js'
import { WalletIcon } from './wallets.js'
import { Working } from './working.js'

const retryButton = (dispatch: Dispatch, text: string = words.tryAgain): JSX.Element => (
  <Button kind="primary" onPress={() => dispatch({ type: 'retried' })}>
    {text}
  </Button>
)
const otherWalletButton = (dispatch: Dispatch): JSX.Element => (
  <Button onPress={() => dispatch({ type: 'other-wallet' })}>{words.otherWallet}</Button>
)

export function Connecting({ step, dispatch }: ViewOf<'connecting'>): JSX.Element {
  return (
    <section class="stack stack--centre">
      <WalletIcon wallet={step.wallet} size={56} />
      <Outcome tone="plain" icon="wait" title={words.connecting(step.wallet.name)} />
      <Button onPress={() => dispatch({ type: 'cancelled' })}>{words.cancel}</Button>
    </section>
  )
}

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
        {retryButton(dispatch)}
        {otherWalletButton(dispatch)}
      </Actions>
    </Outcome>
  )
}

export function Busy({ step, dispatch }: ViewOf<'busy'>): JSX.Element {
  return (
    <Outcome tone="warn" icon="warn" title={words.busy(step.wallet.name)} more={words.busyMore} urgent>
      <Actions>{retryButton(dispatch)}</Actions>
    </Outcome>
  )
}

export function Pricing(): JSX.Element {
  return <Working text={words.pricing} />
}

export function NoPrice({ state, step, dispatch }: ViewOf<'no-price'>): JSX.Element {
  const least = shortUsd(Math.max(1, state.session?.limits.minTipUsd ?? 1))
  const [title = '', more] = {
    'no-route': [words.noRoute(chosenToken(state)?.symbol ?? ''), words.noRouteMore],
    'too-small': [words.tooSmall, words.tooSmallMore(least)],
    unavailable: [words.noPrice, words.noPriceMore],
    unanswered: [words.noAnswer, words.noAnswerMore],
  }[step.reason]
  const again = step.reason === 'unavailable' || step.reason === 'unanswered'
  return (
    <Outcome tone="warn" icon="warn" title={title} more={more} urgent>
      <Actions>
        {again ? (
          <>
            {retryButton(dispatch)}
            <Back dispatch={dispatch} />
          </>
        ) : (
          retryButton(dispatch, step.reason === 'too-small' ? words.changeAmount : words.changeToken)
        )}
      </Actions>
    </Outcome>
  )
}

export function Approving({ state, step, dispatch }: ViewOf<'approving'>): JSX.Element {
  const { wallet } = step.pay
  return (
    <section class="stack stack--centre">
      <WalletIcon wallet={wallet} size={56} />
      <Outcome tone="plain" icon="wait" title={words.approving(wallet.name)} more={words.approvingMore}>
        <TimeLeft pay={step.pay} now={state.now} />
      </Outcome>
      <Button onPress={() => dispatch({ type: 'cancelled' })}>{words.cancel}</Button>
    </section>
  )
}

export function QuoteExpired({ dispatch }: ViewOf<'quote-expired'>): JSX.Element {
  return (
    <Outcome tone="warn" icon="wait" title={words.expired} more={words.nothingPaid} urgent>
      <Actions>{retryButton(dispatch, words.newPrice)}</Actions>
    </Outcome>
  )
}

export function Insufficient({ state, step, dispatch }: ViewOf<'insufficient'>): JSX.Element {
  const { input } = step.pay.intent
  const sol = input.symbol === 'SOL'
  // Every wallet that can pay has SOL, for the network fee.
  const other = sol ? undefined : state.session?.tokens.find(({ symbol }) => symbol === 'SOL')
  const shown = (raw: string): string => tokenAmount(raw, input.decimals, input.symbol)
  const need = shown(String(needed(step.pay.intent)))
  const parts = sol ? words.networkFeePart(displayUnits(input.amount, input.decimals)) : ''
  const more =
    step.has === undefined ? words.notEnoughPlain(need) : words.notEnoughMore(need, parts, shown(step.has))
  const symbol = step.has === undefined && !sol ? `${input.symbol} or SOL` : input.symbol
  return (
    <Outcome tone="warn" icon="warn" title={words.notEnough(symbol)} more={more} urgent>
      <Actions>
        {other !== undefined && (
          <Button
            kind="primary"
            onPress={() => {
              dispatch({ type: 'edited', form: { mint: other.mint } })
              dispatch({ type: 'retried' })
            }}
          >
            {words.payWithToken(other.symbol)}
          </Button>
        )}
        <Button
          kind={other === undefined ? 'primary' : 'plain'}
          onPress={() => dispatch({ type: 'start-over' })}
        >
          {words.otherToken}
        </Button>
        {otherWalletButton(dispatch)}
        {state.session?.fiat.enabled && (
          <Button onPress={() => dispatch({ type: 'start-over', method: 'naira' })}>
            {words.payInNaira}
          </Button>
        )}
      </Actions>
    </Outcome>
  )
}

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
        {retryButton(dispatch)}
        {otherWalletButton(dispatch)}
      </Actions>
    </Outcome>
  )
}

export function NotLanded({ dispatch }: ViewOf<'not-landed'>): JSX.Element {
  return (
    <Outcome tone="warn" icon="wait" title={words.notLanded} more={words.nothingPaid} urgent>
      <Actions>{retryButton(dispatch)}</Actions>
    </Outcome>
  )
}

export function FailedOnChain({ step, dispatch }: ViewOf<'failed-on-chain'>): JSX.Element {
  const { signature } = step.payment
  return (
    <Outcome tone="bad" icon="cross" title={words.failedOnChain} more={words.failedOnChainMore} urgent>
      <Actions>
        {retryButton(dispatch)}
        {signature !== null && explorerLink(signature, words.details)}
      </Actions>
    </Outcome>
  )
}

export function Mismatch({ state, step }: ViewOf<'mismatch'>): JSX.Element {
  const name = state.session?.creator.name ?? ''
  const { signature, intentId } = step.payment
  const reference = signature ?? intentId
  const [title, more] =
    step.received === undefined
      ? [words.mismatch, words.mismatchMore(name)]
      : [words.underpaid, words.underpaidMore(name, step.received)]
  return (
    <Outcome tone="warn" icon="warn" title={title} more={more} urgent>
      <p class="reference">{reference}</p>
      <CopyButton value={reference} label={words.reference} named />
    </Outcome>
  )
}
