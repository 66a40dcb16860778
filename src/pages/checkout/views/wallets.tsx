import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { Button, LinkButton } from '../../ui/controls/button.js'
import { Icon } from '../../ui/icon.js'
import { Notice } from '../../ui/messages/notice.js'
import type { State, WalletChoice } from '../machine/state.js'
import { Outcome } from './outcome.js'
import { Actions, Back, type Dispatch, Heading, type ViewOf } from './step.js'
import { Working } from './working.js'

/** The wallets to choose from, or ways to continue without one here. */
export function Wallets({ state, step, dispatch }: ViewOf<'wallets'>): JSX.Element {
  if (state.wallets.length > 0)
    return <WalletList state={state} declined={step.declined} dispatch={dispatch} />
  if (!state.walletSearchDone) return <Working text={words.searchingWallets} />
  return state.framed ? (
    <NoWalletInFrame dispatch={dispatch} />
  ) : (
    <NoWallet state={state} dispatch={dispatch} />
  )
}

function WalletList({
  state,
  declined,
  dispatch,
}: {
  readonly state: State
  readonly declined: boolean
  readonly dispatch: Dispatch
}): JSX.Element {
  return (
    <section class="stack">
      <Heading>{words.chooseWallet}</Heading>
      {declined && (
        <Notice tone="warn" icon="warn" urgent>
          <strong>{words.declined}</strong> {words.nothingPaid}
        </Notice>
      )}
      <ul class="wallets">
        {state.wallets.map((wallet) => (
          <li key={wallet.id}>
            <button type="button" class="wallet" onClick={() => dispatch({ type: 'picked', wallet })}>
              <WalletIcon wallet={wallet} size={32} />
              <span class="wallet__name">{wallet.name}</span>
              <span class="quiet">{words.detected}</span>
            </button>
          </li>
        ))}
      </ul>
      <Actions>
        {state.framed && <OpenWindowButton dispatch={dispatch} kind="quiet" />}
        <UsePhoneButton dispatch={dispatch} kind="quiet" />
        <Back dispatch={dispatch} />
      </Actions>
    </section>
  )
}

export function WalletIcon({
  wallet,
  size,
}: {
  readonly wallet: WalletChoice
  readonly size: number
}): JSX.Element {
  if (wallet.icon === '') return <Icon name="wallet" size={size} />
  return <img class="wallet__icon" src={wallet.icon} alt="" width={size} height={size} />
}

function OpenWindowButton({
  dispatch,
  kind,
}: {
  readonly dispatch: Dispatch
  readonly kind: 'primary' | 'quiet'
}): JSX.Element {
  return (
    <Button kind={kind} onPress={() => dispatch({ type: 'open-window' })}>
      {words.continueInWindow} <Icon name="out" />
    </Button>
  )
}

function UsePhoneButton({
  dispatch,
  kind = 'plain',
}: {
  readonly dispatch: Dispatch
  readonly kind?: 'plain' | 'quiet'
}): JSX.Element {
  return (
    <Button kind={kind} onPress={() => dispatch({ type: 'use-phone' })}>
      <Icon name="phone" /> {words.usePhone}
    </Button>
  )
}

function NoWalletInFrame({ dispatch }: { readonly dispatch: Dispatch }): JSX.Element {
  return (
    <Outcome tone="plain" icon="wallet" title={words.noWalletInFrame} more={words.noWalletInFrameMore}>
      <Actions>
        <OpenWindowButton dispatch={dispatch} kind="primary" />
        <UsePhoneButton dispatch={dispatch} />
        <Back dispatch={dispatch} />
      </Actions>
    </Outcome>
  )
}

function NoWallet({ state, dispatch }: { readonly state: State; readonly dispatch: Dispatch }): JSX.Element {
  return (
    <Outcome
      tone="plain"
      icon="wallet"
      title={words.noWallet}
      more={words.noWalletMore(state.session?.fiat.enabled === true)}
    >
      <Actions>
        <LinkButton kind="primary" href="https://phantom.com/download" newTab>
          {words.getPhantom} <Icon name="out" />
        </LinkButton>
        <LinkButton href="https://www.solflare.com/download/" newTab>
          {words.getSolflare} <Icon name="out" />
        </LinkButton>
        {state.session?.fiat.enabled && (
          <Button onPress={() => dispatch({ type: 'start-over', method: 'naira' })}>
            <Icon name="bank" /> {words.payInNaira}
          </Button>
        )}
        <UsePhoneButton dispatch={dispatch} />
        <Back dispatch={dispatch} />
      </Actions>
    </Outcome>
  )
}
