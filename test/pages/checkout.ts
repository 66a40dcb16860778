import { advanceCheckout } from '../../src/pages/checkout/flow/machine.js'
import type { Command, Event } from '../../src/pages/checkout/machine/events.js'
import {
  firstState,
  type NairaTip,
  type State,
  type WalletChoice,
} from '../../src/pages/checkout/machine/state.js'
import type { SessionDescription, TipIntent, TipIntentStatus } from '../../src/sdk/client/tip.js'

export const begin = Date.parse('2026-11-20T12:00:00Z')

export const session: SessionDescription = {
  creator: { id: 'c', name: 'Ada', address: 'Ab12...x9Yz' },
  tokens: [
    { symbol: 'SOL', mint: 'sol', decimals: 9 },
    { symbol: 'USDC', mint: 'usdc', decimals: 6 },
  ],
  presetsUsd: [2, 5, 10],
  limits: { minTipUsd: 1, maxTipUsd: 500 },
  chain: 'solana:mainnet',
  rpcUrl: 'https://rpc.example',
  bundleRpcUrl: null,
  fiat: { enabled: true, collection: 'bank_transfer', minNgn: 100, maxNgn: 700_000 },
  theme: 'dark',
  parentOrigin: 'https://shop.example',
  expiresAt: new Date(begin + 900_000).toISOString(),
  now: new Date(begin).toISOString(),
}

export const wallet: WalletChoice = { id: 'own W', name: 'W', icon: '' }

export const intent: TipIntent = {
  intentId: 'pi_1',
  status: 'requires_action',
  transaction: '',
  quote: { outAmount: '32666666', priceImpactPct: 0, amountUsd: 5, tokenSymbol: 'SOL' },
  executionMode: 'sync',
  provider: 'direct-transfer',
  lastValidBlockHeight: 100,
  settings: { yieldEnabled: false, gaslessEnabled: false, autoConvertUsdc: false },
  expiresAt: new Date(begin + 60_000).toISOString(),
  recipient: 'creator',
  input: { symbol: 'SOL', mint: 'sol', decimals: 9, amount: '33333333' },
  output: { symbol: 'SOL', mint: 'sol', decimals: 9, amount: '32666666' },
}

export const intentStatus = (change: Partial<TipIntentStatus>): TipIntentStatus => ({
  ...intent,
  status: 'submitted',
  signature: 'sig',
  outcome: null,
  receivedAmount: null,
  eventId: null,
  ...change,
})

export const nairaTip: NairaTip = {
  intentId: 'fiatpay_1',
  amountNgn: 7600,
  amountUsd: 5,
  receivedUsd: 4.75,
  expiresAt: new Date(begin + 1_800_000).toISOString(),
  email: false,
  checkoutUrl: null,
  account: { bank: 'B', number: '0123456789', name: 'N' },
}

/** Runs the events through the state machine. An event without an attempt number gets the current one. */
export function run(
  events: readonly (Event | Record<string, unknown>)[],
  from: State = firstState(true, begin),
) {
  let state = from
  const commands: Command[] = []
  for (const event of events) {
    const next = advanceCheckout(state, { attempt: state.attempt, ...event } as Event)
    state = next.state
    commands.push(...next.commands)
  }
  return {
    state,
    commands,
    messages: commands.flatMap((command) => (command.do === 'notify-parent' ? [command.message] : [])),
  }
}

const loaded = [{ type: 'loaded', session }]
/** The events that lead to each step of a successful crypto tip. */
export const eventsTo = {
  choose: loaded,
  wallets: [...loaded, { type: 'submitted-form' }],
  connecting: [...loaded, { type: 'submitted-form' }, { type: 'picked', wallet }],
  pricing: [
    ...loaded,
    { type: 'submitted-form' },
    { type: 'picked', wallet },
    { type: 'connected', address: 'a', rightNetwork: true },
  ],
  review: [
    ...loaded,
    { type: 'submitted-form' },
    { type: 'picked', wallet },
    { type: 'connected', address: 'a', rightNetwork: true },
    { type: 'priced', intent, balance: 10n ** 12n },
  ],
} as const

export const approving = [...eventsTo.review, { type: 'approved' }]
export const sent = [...approving, { type: 'sent', payment: { intentId: 'pi_1', signature: 'sig' } }]
