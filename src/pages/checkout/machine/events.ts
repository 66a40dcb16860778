import type { FiatStatusAnswer } from '../../../fiat/schemas.js'
import type { SessionDescription, TipIntent, TipIntentStatus } from '../../../sdk/client/tip.js'
import type {
  Fault,
  Form,
  NairaQuote,
  NairaRate,
  NairaTip,
  Payment,
  PhoneLinks,
  Saved,
  State,
  WalletChoice,
} from './state.js'
import type { Screen } from './steps.js'

/** What the supporter did, and what a command or the browser reported. `attempt`: the attempt that the result belongs to. */
interface Events {
  edited: { form: Partial<Form> }
  'submitted-form': object
  picked: { wallet: WalletChoice }
  'accepted-impact': { accepted: boolean }
  approved: object
  cancelled: object
  retried: object
  'other-wallet': object
  'start-over': { method?: Form['method'] }
  'use-phone': object
  'open-window': object
  'marked-sent': object
  'tip-again': object
  'return-to-left': object
  navigated: { screen: Screen }

  loaded: { session: SessionDescription }
  'session-over': object
  resumed: { payment: Payment }
  'resumed-done': { done: NonNullable<Saved['done']> }
  'resumed-naira': { tip: NairaTip; left?: boolean | undefined }
  wallets: { wallets: readonly WalletChoice[] }
  'wallet-search-done': object
  popup: { opened: boolean }
  'phone-links': { links: PhoneLinks | undefined }
  'other-window-opened': object
  connected: { attempt: number; address: string; rightNetwork: boolean }
  /**
   * `balance`: of the input token in base units. `fee`: what the network takes in lamports for a tip in another token, and what there
   * is. Undefined when it could not be read.
   */
  priced: { attempt: number; intent: TipIntent; balance: bigint | undefined; fee?: SolFee | undefined }
  'price-failed': { attempt: number; code: string }
  /** Failed in the wallet, or refused by the RPC endpoint. Nothing was sent and no money moved. */
  'pay-failed': { attempt: number; fault: Fault; detail: string }
  /** Sent, or possibly sent. Handled in every step, because money may be moving. */
  sent: { payment: Payment }
  'payment-status': { intent: TipIntentStatus }
  'session-payments': { intents: readonly TipIntentStatus[] }
  landed: { intentId: string; failed: boolean }
  'not-landed': { intentId: string }
  'naira-quoted': { quote: NairaQuote }
  'naira-quote-failed': object
  'naira-rate': { rate: NairaRate }
  'naira-started': { attempt: number; tip: NairaTip }
  'naira-refused': { attempt: number; code: string }
  'naira-status': { intentId: string; status: FiatStatusAnswer['status']; receivedNgn?: number | undefined }
  tick: { now: number }
  connection: { offline: boolean }
  answered: { ok: boolean }
}

export interface SolFee {
  readonly cost: bigint
  readonly has: bigint
}

export type Of<Type extends keyof Events> = { readonly type: Type } & Readonly<Events[Type]>
export type Event = { [Type in keyof Events]: Of<Type> }[keyof Events]

/** Work for the driver. Its results come back as events. */
interface Commands {
  connect: { attempt: number; wallet: WalletChoice }
  /** `intent`: one for the same tip that has not expired: only the balance is read. */
  price: { attempt: number; address: string; cents: number; intent: TipIntent | undefined }
  pay: { attempt: number; walletId: string; intent: TipIntent; message: string }
  /** `late`: for a limited time. */
  'watch-payment': { payment: Payment; late?: boolean }
  'watch-session': object
  'open-window': object
  /** Opens the tab in which the provider's page is shown as soon as its address is known. */
  'open-tab': object
  'refresh-phone-links': { cents: number; mint: string }
  'quote-naira': { cents: number }
  /** `cents`: an amount that may be asked for. */
  'read-naira-rate': { cents: number }
  'start-naira': { attempt: number; quote: NairaQuote; form: Form }
  'watch-naira': { intentId: string }
  save: Saved
  'clear-saved': object
  /** Opens the checkout of another session. */
  renew: object
  'notify-parent': { message: ParentMessage }
}

export type Command = { [Do in keyof Commands]: { readonly do: Do } & Readonly<Commands[Do]> }[keyof Commands]

/** Messages to the embedding page (embed protocol, version 1). They are for display only and prove nothing. */
export type ParentMessage = {
  [Type in keyof ParentMessages]: { readonly type: Type } & Readonly<ParentMessages[Type]>
}[keyof ParentMessages]

interface ParentMessages {
  'tip.started': { intentId: string; method: Method; amountUsd: number; tokenSymbol?: string }
  'tip.submitted': { intentId: string; signature: string | null }
  'tip.completed': {
    intentId: string
    signature: string | null
    method: Method
    amount: number
    tokenSymbol: string
    amountUsd: number
    receivedAmount: number
    timestamp: string
  }
  /** `receivedAmount`: what the creator received, when it was less than the tip. */
  'tip.failed': {
    intentId: string | null
    code: FailureCode
    retryable: boolean
    message: string
    receivedAmount?: number
  }
  'tip.expired': object
}

type Method = 'wallet' | 'card' | 'bank_transfer'

export type FailureCode =
  | 'rejected'
  | 'expired'
  | 'insufficient_funds'
  | 'no_wallet'
  | 'wrong_network'
  | 'tx_failed'
  | 'fiat_failed'
  | 'unavailable'

export interface Next {
  readonly state: State
  readonly commands: readonly Command[]
}
