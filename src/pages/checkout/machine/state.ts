import type { SessionDescription, TipIntent, TipIntentStatus } from '../../../sdk/client/tip.js'
import type { Currency } from '../../lib/amount-text.js'

export interface Form {
  readonly method: 'crypto' | 'naira'
  /** The currency of the amount, which either method takes. */
  readonly currency: Currency
  /** A preset in cents or kobo, or `other` for the typed amount. */
  readonly preset: number | 'other'
  readonly other: string
  readonly message: string
  readonly mint: string
  /** How naira are paid, where the creator takes both. */
  readonly way: 'bank_transfer' | 'checkout'
  readonly name: string
  readonly email: string
  readonly anonymous: boolean
  /** Faults are shown after the field lost focus or the form was submitted. */
  readonly showFaults: boolean
}

/** A wallet of this window, or one of the embedding page that embed.js relays. */
export interface WalletChoice {
  readonly id: string
  readonly name: string
  /** A data: URL of an image; empty when the wallet has no valid one. */
  readonly icon: string
}

export interface PricedTip {
  readonly wallet: WalletChoice
  readonly address: string
  readonly intent: TipIntent
}

/** A payment that was sent, or possibly sent. The signature is null when the wallet failed after it may have sent. */
export interface Payment {
  readonly intentId: string
  readonly signature: string | null
}

export interface NairaQuote {
  readonly cents: number
  readonly amountNgn: number
  readonly receivedUsd: number
}

export interface NairaRate {
  readonly perUsd: number
  /** What the service charges for each dollar of a tip. */
  readonly chargedPerUsd: number
}

export interface NairaTip {
  readonly intentId: string
  readonly amountNgn: number
  readonly amountUsd: number
  readonly receivedUsd: number
  readonly expiresAt: string
  readonly email: boolean
  /** The page of this payment. Undefined from an older service. */
  readonly statusUrl?: string | undefined
  readonly checkoutUrl: string | null
  readonly account?: { readonly bank: string; readonly number: string; readonly name: string } | undefined
}

/** Links for a phone. They carry a one-time code, never the session token. */
export interface PhoneLinks {
  readonly browser: string
  /** A Solana Pay transaction request; undefined over http, which wallets refuse. */
  readonly request: string | undefined
}

export type NoPrice = 'no-route' | 'too-small' | 'unavailable' | 'unanswered'
/** Why a naira payment could not be started. Nothing was paid. */
export type NairaRefusal = 'amount' | 'too-many' | 'unanswered' | 'provider' | 'refused'
export type Fault =
  | 'rejected'
  | 'busy'
  | 'disconnected'
  | 'network'
  | 'wrong-network'
  | 'insufficient'
  | 'expired'
  | 'failed'

/** The steps of the checkout, and what each knows. */
interface Steps {
  loading: object
  /** `asked`: when the embedding page was asked for another session. `usable`: this one still is. */
  'session-over': { asked?: number; usable?: boolean }
  choose: object
  /** `links`: on a phone without a wallet of its own browser. */
  wallets: { declined: boolean; links?: PhoneLinks | undefined }
  phone: { links: PhoneLinks | undefined }
  blocked: { link: string | undefined }
  'other-window': object
  connecting: { wallet: WalletChoice }
  'wrong-network': { wallet: WalletChoice }
  busy: { wallet: WalletChoice; pay: PricedTip | undefined }
  pricing: { wallet: WalletChoice; address: string }
  review: { pay: PricedTip; declined: boolean; accepted: boolean }
  'no-price': { reason: NoPrice; wallet: WalletChoice; address: string }
  approving: { pay: PricedTip }
  'quote-expired': { pay: PricedTip }
  /** `missingSol`: lamports that the network's fee takes and the wallet does not have. */
  insufficient: { pay: PricedTip; has: string | undefined; missingSol?: string }
  sent: { payment: Payment; since: number }
  'not-sent': { pay: PricedTip; detail: string }
  /** The intent has expired and no payment was found so far, which does not prove that there is none. */
  'not-seen': { payment: Payment }
  /** A search after the transaction's last valid block height has found nothing. */
  'not-landed': object
  'failed-on-chain': { payment: Payment }
  /** `received`: what arrived, when it was less than the tip. */
  mismatch: { payment: Payment; received?: string }
  done: { intent: TipIntentStatus; completedAt: number }
  'naira-starting': object
  'naira-waiting': { tip: NairaTip; markedSent: boolean }
  'naira-late': { tip: NairaTip; markedSent: boolean }
  /** `receivedNgn`: what arrived, when it was too little for the tip. It waits for the payer. */
  'naira-failed': { tip: NairaTip; receivedNgn: number | undefined }
  'naira-done': { tip: NairaTip; completedAt: number }
  'naira-refused': { reason: NairaRefusal }
}

export type StepName = keyof Steps
/** One of these steps. */
export type StepOf<At extends StepName> = { [Name in At]: { readonly at: Name } & Readonly<Steps[Name]> }[At]
export type Step = StepOf<StepName>

/** What this tab stores so that a reload can continue, or show the receipt again. */
export interface Saved {
  readonly payment?: Payment
  readonly naira?: NairaTip
  readonly left?: boolean
  readonly done?: StepOf<'done' | 'naira-done'>
}

export interface State {
  readonly session: SessionDescription | undefined
  readonly form: Form
  readonly framed: boolean
  readonly wallets: readonly WalletChoice[]
  /** Wallets have had enough time to register. */
  readonly walletSearchDone: boolean
  readonly step: Step
  /**
   * The newest price of what the form says. A session has few intents, so it is not asked for again while it holds. An edit,
   * a refusal and sending end it.
   */
  readonly quoted?: PricedTip | undefined
  /** The number of the newest attempt. Results of older attempts are ignored. */
  readonly attempt: number
  /** Epoch ms, as of the last tick. */
  readonly now: number
  readonly offline: boolean
  /** The last request got no answer of the service. */
  readonly unanswered: boolean
  /** A phone. Without a wallet it pays in naira first. */
  readonly phone: boolean
  /** A creator's public page. It opens sessions by itself, so no session ends here. */
  readonly page: boolean
  /** The currency to begin with: the visitor's choice before, the creator's, or that of the visitor's country. */
  readonly currency: Currency | undefined
  readonly nairaFirst: boolean
  readonly naira: 'unknown' | 'unavailable' | NairaQuote
  readonly rate: NairaRate | undefined
  /** When the naira price was last requested in vain, epoch ms. */
  readonly nairaFailedAt: number
  /** A naira tip whose payment the supporter left. It may still be paid. */
  readonly left: NairaTip | undefined
}

export function firstState(
  framed: boolean,
  now: number,
  form: Partial<Form> = {},
  phone = false,
  { page = false, currency, rate }: Partial<Pick<State, 'page' | 'currency' | 'rate'>> = {},
): State {
  return {
    session: undefined,
    form: {
      method: 'crypto',
      currency: 'USD',
      preset: 'other',
      other: '',
      message: '',
      mint: '',
      way: page ? 'bank_transfer' : 'checkout',
      name: '',
      email: '',
      anonymous: false,
      showFaults: false,
      ...form,
    },
    framed,
    wallets: [],
    walletSearchDone: false,
    step: { at: 'loading' },
    attempt: 0,
    now,
    offline: false,
    unanswered: false,
    phone,
    page,
    currency,
    nairaFirst: false,
    naira: 'unknown',
    rate,
    nairaFailedAt: 0,
    left: undefined,
  }
}
