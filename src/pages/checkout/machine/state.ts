import type { SessionDescription, TipIntent, TipIntentStatus } from '../../../sdk/client/tip.js'

/** What the supporter has filled in. Amounts in US cents. */
export interface Form {
  readonly method: 'crypto' | 'naira'
  /** A preset, or what is typed in `other`. */
  readonly preset: number | 'other'
  readonly other: string
  readonly message: string
  readonly mint: string
  readonly name: string
  readonly email: string
  readonly anonymous: boolean
  /** A fault is told once the field was left or the form submitted. */
  readonly looked: boolean
}

/** A wallet to choose: one of this window, or one of the embedding page that its script relays. */
export interface WalletChoice {
  readonly id: string
  readonly name: string
  /** A data: URL, for an image. */
  readonly icon: string
}

/** A priced tip on its way through a wallet. */
export interface Pay {
  readonly wallet: WalletChoice
  readonly address: string
  readonly intent: TipIntent
}

/** A payment that may be moving money. The signature is unknown when the wallet sent it and did not answer well. */
export interface Payment {
  readonly intentId: string
  readonly signature: string | null
}

/** What a tip in naira would cost now. */
export interface NairaQuote {
  readonly cents: number
  readonly amountNgn: number
  readonly feeUsd: number
  readonly receivedUsd: number
}

/** A tip in naira that waits for its money. */
export interface NairaTip {
  readonly intentId: string
  readonly amountNgn: number
  readonly amountUsd: number
  readonly receivedUsd: number
  readonly expiresAt: string
  readonly email: boolean
  readonly checkoutUrl: string | null
  readonly account?: { readonly bank: string; readonly number: string; readonly name: string } | undefined
}

/** Ways onto a phone: links that carry a one-time code, never the session. */
export interface PhoneLinks {
  readonly browser: string
  /** A Solana Pay transaction request; absent where wallets would refuse it (http). */
  readonly request: string | undefined
}

export type NoPrice = 'route' | 'small' | 'away'
/** What went wrong in a wallet or on the way to the chain. */
export type Fault =
  | 'rejected'
  | 'busy'
  | 'disconnected'
  | 'network'
  | 'wrong-network'
  | 'insufficient'
  | 'expired'
  | 'failed'

/** Where the checkout stands; the letters are the states of its specification. */
export type Step =
  | { readonly at: 'loading' }
  /** `asked`: the page around has just been asked for a new session. */
  | { readonly at: 'dead'; readonly asked: boolean }
  | { readonly at: 'choose' }
  | { readonly at: 'wallets'; readonly declined: boolean }
  | { readonly at: 'phone'; readonly links: PhoneLinks | undefined }
  | { readonly at: 'blocked'; readonly link: string | undefined }
  | { readonly at: 'elsewhere' }
  | { readonly at: 'connecting'; readonly wallet: WalletChoice }
  | { readonly at: 'wrong-network'; readonly wallet: WalletChoice }
  | { readonly at: 'busy'; readonly wallet: WalletChoice; readonly pay: Pay | undefined }
  | { readonly at: 'pricing'; readonly wallet: WalletChoice; readonly address: string }
  | { readonly at: 'review'; readonly pay: Pay; readonly declined: boolean; readonly accepted: boolean }
  | { readonly at: 'no-price'; readonly reason: NoPrice }
  | { readonly at: 'approving'; readonly pay: Pay }
  | { readonly at: 'quote-expired'; readonly pay: Pay }
  | { readonly at: 'insufficient'; readonly pay: Pay; readonly has: string | undefined }
  | { readonly at: 'sent'; readonly payment: Payment; readonly since: number }
  | { readonly at: 'not-sent'; readonly pay: Pay; readonly detail: string }
  | { readonly at: 'not-taken' }
  | { readonly at: 'refused'; readonly payment: Payment }
  | { readonly at: 'mismatch'; readonly payment: Payment }
  | { readonly at: 'done'; readonly intent: TipIntentStatus; readonly completedAt: number }
  | { readonly at: 'naira-starting' }
  | { readonly at: 'naira-waiting'; readonly tip: NairaTip; readonly said: boolean }
  | { readonly at: 'naira-late'; readonly tip: NairaTip; readonly said: boolean }
  | { readonly at: 'naira-failed'; readonly tip: NairaTip }
  | { readonly at: 'naira-done'; readonly tip: NairaTip; readonly completedAt: number }
  | { readonly at: 'provider-down' }

export type StepName = Step['at']

export interface State {
  readonly session: SessionDescription | undefined
  readonly form: Form
  /** Shown inside another page. */
  readonly framed: boolean
  readonly wallets: readonly WalletChoice[]
  /** Wallets had their time to introduce themselves. */
  readonly looked: boolean
  readonly step: Step
  /** Numbers what was begun last: answers to anything older change nothing. */
  readonly attempt: number
  /** Epoch ms, as of the last tick. */
  readonly now: number
  readonly offline: boolean
  readonly naira: 'unknown' | 'away' | NairaQuote
}

/** The state before anything is known. */
export function firstState(framed: boolean, now: number, form: Partial<Form> = {}): State {
  return {
    session: undefined,
    form: {
      method: 'crypto',
      preset: 'other',
      other: '',
      message: '',
      mint: '',
      name: '',
      email: '',
      anonymous: false,
      looked: false,
      ...form,
    },
    framed,
    wallets: [],
    looked: false,
    step: { at: 'loading' },
    attempt: 0,
    now,
    offline: false,
    naira: 'unknown',
  }
}
