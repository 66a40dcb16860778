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

type UserAction =
  | { readonly type: 'edited'; readonly form: Partial<Form> }
  | { readonly type: 'submitted-form' }
  | { readonly type: 'picked'; readonly wallet: WalletChoice }
  | { readonly type: 'accepted-impact'; readonly accepted: boolean }
  | { readonly type: 'approved' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'retried' }
  | { readonly type: 'other-wallet' }
  | { readonly type: 'start-over'; readonly method?: Form['method'] }
  | { readonly type: 'use-phone' }
  | { readonly type: 'open-window' }
  | { readonly type: 'marked-sent' }
  | { readonly type: 'tip-again' }
  | { readonly type: 'return-to-left' }
  | { readonly type: 'navigated'; readonly screen: Screen }

/** What a command or the browser reported. `attempt`: the attempt that the result belongs to. */
type Result =
  | { readonly type: 'loaded'; readonly session: SessionDescription }
  | { readonly type: 'session-over' }
  | { readonly type: 'resumed'; readonly payment: Payment }
  | { readonly type: 'resumed-done'; readonly done: NonNullable<Saved['done']> }
  | { readonly type: 'resumed-naira'; readonly tip: NairaTip; readonly left?: boolean | undefined }
  | { readonly type: 'wallets'; readonly wallets: readonly WalletChoice[] }
  | { readonly type: 'wallet-search-done' }
  | { readonly type: 'popup'; readonly opened: boolean }
  | { readonly type: 'phone-links'; readonly links: PhoneLinks | undefined }
  | { readonly type: 'other-window-opened' }
  | {
      readonly type: 'connected'
      readonly attempt: number
      readonly address: string
      readonly rightNetwork: boolean
    }
  | {
      readonly type: 'priced'
      readonly attempt: number
      readonly intent: TipIntent
      /** The wallet's balance of the input token in base units; undefined when it could not be read. */
      readonly balance: bigint | undefined
    }
  | { readonly type: 'price-failed'; readonly attempt: number; readonly code: string }
  /** Failed in the wallet, or refused by the RPC endpoint. Nothing was sent and no money moved. */
  | { readonly type: 'pay-failed'; readonly attempt: number; readonly fault: Fault; readonly detail: string }
  /** Sent, or possibly sent. Handled in every step, because money may be moving. */
  | { readonly type: 'sent'; readonly payment: Payment }
  | { readonly type: 'payment-status'; readonly intent: TipIntentStatus }
  | { readonly type: 'session-payments'; readonly intents: readonly TipIntentStatus[] }
  | { readonly type: 'landed'; readonly intentId: string; readonly failed: boolean }
  | { readonly type: 'not-landed'; readonly intentId: string }
  | { readonly type: 'naira-quoted'; readonly quote: NairaQuote }
  | { readonly type: 'naira-quote-failed' }
  | { readonly type: 'naira-rate'; readonly rate: NairaRate }
  | { readonly type: 'naira-started'; readonly attempt: number; readonly tip: NairaTip }
  | { readonly type: 'naira-refused'; readonly attempt: number; readonly code: string }
  | {
      readonly type: 'naira-status'
      readonly intentId: string
      readonly status: FiatStatusAnswer['status']
      readonly receivedNgn?: number | undefined
    }
  | { readonly type: 'tick'; readonly now: number }
  | { readonly type: 'connection'; readonly offline: boolean }
  | { readonly type: 'answered'; readonly ok: boolean }

export type Event = UserAction | Result
export type Of<Type extends Event['type']> = Extract<Event, { type: Type }>

/** Work for the driver. Its results come back as events. */
export type Command =
  | { readonly do: 'connect'; readonly attempt: number; readonly wallet: WalletChoice }
  | {
      readonly do: 'price'
      readonly attempt: number
      readonly address: string
      readonly cents: number
      /** An intent for the same tip that has not expired: only the balance is read. */
      readonly intent: TipIntent | undefined
    }
  | {
      readonly do: 'pay'
      readonly attempt: number
      readonly walletId: string
      readonly intent: TipIntent
      readonly message: string
    }
  | { readonly do: 'watch-payment'; readonly payment: Payment }
  | { readonly do: 'watch-session' }
  | { readonly do: 'open-window' }
  | { readonly do: 'refresh-phone-links'; readonly cents: number; readonly mint: string }
  | { readonly do: 'quote-naira'; readonly cents: number }
  /** `cents`: an amount that may be asked for. */
  | { readonly do: 'read-naira-rate'; readonly cents: number }
  | {
      readonly do: 'start-naira'
      readonly attempt: number
      readonly quote: NairaQuote
      readonly form: Form
    }
  | { readonly do: 'watch-naira'; readonly intentId: string }
  | ({ readonly do: 'save' } & Saved)
  | { readonly do: 'clear-saved' }
  | { readonly do: 'renew' }
  | { readonly do: 'notify-parent'; readonly message: ParentMessage }

/** Messages to the embedding page (embed protocol, version 1). They are for display only and prove nothing. */
export type ParentMessage =
  | {
      readonly type: 'tip.started'
      readonly intentId: string
      readonly method: 'wallet' | 'card' | 'bank_transfer'
      readonly amountUsd: number
      readonly tokenSymbol?: string
    }
  | { readonly type: 'tip.submitted'; readonly intentId: string; readonly signature: string | null }
  | {
      readonly type: 'tip.completed'
      readonly intentId: string
      readonly signature: string | null
      readonly method: 'wallet' | 'card' | 'bank_transfer'
      readonly amount: number
      readonly tokenSymbol: string
      readonly amountUsd: number
      readonly receivedAmount: number
      readonly timestamp: string
    }
  | {
      readonly type: 'tip.failed'
      readonly intentId: string | null
      readonly code: FailureCode
      readonly retryable: boolean
      readonly message: string
      /** What the creator received, when it was less than the tip. */
      readonly receivedAmount?: number
    }
  | { readonly type: 'tip.expired' }

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
