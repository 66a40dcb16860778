import type { SessionDescription, TipIntent, TipIntentStatus } from '../../../sdk/client/tip.js'
import type { Fault, Form, NairaQuote, NairaTip, Payment, PhoneLinks, State, WalletChoice } from './state.js'

/** What the supporter does. */
type Deed =
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
  | { readonly type: 'said-sent' }
  | { readonly type: 'tip-again' }

/** What the world answers. Answers carry the number of the attempt they belong to. */
type Answer =
  | { readonly type: 'loaded'; readonly session: SessionDescription }
  | { readonly type: 'session-dead' }
  | { readonly type: 'resumed'; readonly payment: Payment }
  | { readonly type: 'resumed-naira'; readonly tip: NairaTip }
  | { readonly type: 'wallets'; readonly wallets: readonly WalletChoice[] }
  | { readonly type: 'looked' }
  | { readonly type: 'popup'; readonly opened: boolean }
  | { readonly type: 'handed-off'; readonly links: PhoneLinks }
  | { readonly type: 'elsewhere' }
  | { readonly type: 'connected'; readonly attempt: number; readonly address: string; readonly here: boolean }
  | {
      readonly type: 'priced'
      readonly attempt: number
      readonly intent: TipIntent
      /** Base units of the input the wallet holds, when it could be asked. */
      readonly balance: bigint | undefined
    }
  | { readonly type: 'price-failed'; readonly attempt: number; readonly code: string }
  /** In the wallet, or refused by the endpoint before anything was sent: nothing has moved. */
  | { readonly type: 'pay-failed'; readonly attempt: number; readonly fault: Fault; readonly detail: string }
  /** Sent, or perhaps sent. Never ignored, whatever is shown: money may be moving. */
  | { readonly type: 'sent'; readonly payment: Payment }
  | { readonly type: 'watched'; readonly intent: TipIntentStatus }
  | { readonly type: 'listed'; readonly intents: readonly TipIntentStatus[] }
  | { readonly type: 'landed'; readonly intentId: string; readonly failed: boolean }
  | { readonly type: 'unlanded'; readonly intentId: string }
  | { readonly type: 'quoted'; readonly quote: NairaQuote }
  | { readonly type: 'quote-failed' }
  | { readonly type: 'naira-started'; readonly attempt: number; readonly tip: NairaTip }
  | { readonly type: 'naira-refused'; readonly attempt: number; readonly code: string }
  | { readonly type: 'naira-status'; readonly intentId: string; readonly status: NairaStatus }
  | { readonly type: 'tick'; readonly now: number }
  | { readonly type: 'connection'; readonly offline: boolean }

export type NairaStatus = 'requires_action' | 'completed' | 'failed' | 'cancelled'
export type Event = Deed | Answer

/** What the driver is to do; each answers with events. */
export type Command =
  | { readonly do: 'connect'; readonly attempt: number; readonly wallet: WalletChoice }
  | {
      readonly do: 'price'
      readonly attempt: number
      readonly address: string
      readonly cents: number
    }
  | {
      readonly do: 'pay'
      readonly attempt: number
      readonly walletId: string
      readonly intent: TipIntent
      readonly message: string
    }
  | { readonly do: 'watch'; readonly payment: Payment }
  | { readonly do: 'listen' }
  | { readonly do: 'open-window' }
  | { readonly do: 'hand-off'; readonly cents: number; readonly mint: string }
  | { readonly do: 'quote-naira'; readonly cents: number }
  | {
      readonly do: 'start-naira'
      readonly attempt: number
      readonly cents: number
      readonly quote: NairaQuote
      readonly form: Form
    }
  | { readonly do: 'watch-naira'; readonly intentId: string }
  | { readonly do: 'keep'; readonly payment?: Payment; readonly naira?: NairaTip }
  | { readonly do: 'forget' }
  | { readonly do: 'tell'; readonly message: Told }

/** What the embedding page is told (embed protocol, version 1): hints, never proof. */
export type Told =
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

/** A state and what is to be done on arriving there. */
export interface Next {
  readonly state: State
  readonly commands: readonly Command[]
}
