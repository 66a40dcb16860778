import type { SessionDescription, TipIntent, TipIntentStatus } from '../../sdk/client/tip.js'
import * as api from '../lib/api.js'
import { isUnanswered } from '../lib/failures.js'
import type { NairaStatus } from './machine/events.js'
import type { Form, NairaQuote, NairaRate, NairaTip, Payment } from './machine/state.js'

/** The API calls of one session's checkout. */
export interface TipService {
  session(): Promise<SessionDescription>
  tip(creatorId: string, cents: number, mint: string, wallet: string, message: string): Promise<TipIntent>
  intent(intentId: string): Promise<TipIntentStatus>
  /** The crypto ones. */
  intents(): Promise<readonly TipIntentStatus[]>
  /** Opens another session after this one's tip. Returns its checkout's address within this origin. */
  renew(): Promise<string>
  /** A code that continues the session on another device or, with a tip, lets a phone's wallet request its transaction. */
  handOff(tip?: { readonly amount: number; readonly inputTokenMint: string }): Promise<string>
  record(payment: Payment, intent: TipIntent, senderWallet: string, message: string): Promise<unknown>
  nairaQuote(cents: number): Promise<NairaQuote>
  /** `cents`: an amount within the limits. */
  nairaRate(cents: number): Promise<NairaRate>
  nairaTip(creatorId: string, quote: NairaQuote, form: Form): Promise<NairaTip>
  nairaStatus(intentId: string): Promise<NairaAnswer>
}

/** `receivedNgn`: naira that arrived for an unpaid tip and wait for the payer. */
export interface NairaAnswer {
  readonly status: NairaStatus
  readonly receivedNgn?: number
}

interface FiatIntent {
  readonly intentId: string
  readonly checkoutUrl: string | null
  readonly paymentInstructions: null | {
    bankName: string
    accountNumber: string
    accountName: string
    amount: number
  }
  readonly expiresAt: string
}

interface Rate {
  readonly rate: number
  readonly amountUsd: number
  readonly amountNgn: number
  readonly finalAmountUsd: number
}

/** Exchanges the one-time code of a link for the session token. */
export async function redeem(code: string): Promise<string> {
  return (await api.post<{ sessionToken: string }>('/sdk/handoff/redeem', { code })).sessionToken
}

/** After each request `onAnswer` gets whether the service answered it. */
export function createTipService(token: string, onAnswer: (ok: boolean) => void): TipService {
  const reported = <Answer>(request: Promise<Answer>): Promise<Answer> => {
    request.then(
      () => onAnswer(true),
      (error: unknown) => onAnswer(!isUnanswered(error)),
    )
    return request
  }
  const get = <Answer>(path: string, bearer?: string) => reported(api.get<Answer>(path, bearer))
  const post = <Answer>(path: string, body: unknown, bearer?: string) =>
    reported(api.post<Answer>(path, body, bearer))
  const rateOf = (cents: number) => get<Rate>(`/payments/fiat/rate?amount=${(cents / 100).toFixed(2)}`)
  return {
    session: () => get('/sdk/session', token),
    tip: (creatorId, cents, inputTokenMint, sourceWalletAddress, message) => {
      const tip = { creatorId, amount: cents / 100, inputTokenMint, sourceWalletAddress }
      return post('/sdk/tip', { ...tip, ...(message !== '' && { message }) }, token)
    },
    intent: (intentId) => get(`/sdk/intents/${encodeURIComponent(intentId)}`, token),
    async intents() {
      const { intents } = await get<{ intents: (TipIntentStatus | { intentId: string })[] }>(
        '/sdk/intents',
        token,
      )
      return intents.filter((intent) => 'transaction' in intent)
    },
    handOff: async (tip) => (await post<{ code: string }>('/sdk/handoff', tip ?? {}, token)).code,
    renew: async () => {
      const { embedUrl } = await post<{ embedUrl: string }>('/sdk/session/renew', {}, token)
      const { pathname, search, hash } = new URL(embedUrl)
      return pathname + search + hash
    },
    record: ({ intentId, signature }, { recipient, input }, senderWallet, message) =>
      post('/chain/tips/create', {
        creatorWallet: recipient,
        senderWallet,
        tipAmount: Number(input.amount),
        tokenSymbol: input.symbol,
        txSignature: signature,
        intentId,
        ...(message !== '' && { message }),
      }),
    async nairaQuote(cents) {
      const { amountNgn, finalAmountUsd: receivedUsd } = await rateOf(cents)
      return { cents, amountNgn, receivedUsd }
    },
    async nairaRate(cents) {
      const { rate: perUsd, amountNgn, amountUsd } = await rateOf(cents)
      return { perUsd, chargedPerUsd: amountNgn / amountUsd }
    },
    nairaTip: async (creatorId, quote, form) =>
      nairaTipOf(
        await post<FiatIntent>('/payments/fiat/intent', nairaRequest(creatorId, quote, form), token),
        quote,
        form,
      ),
    nairaStatus: (intentId) => get(`/payments/fiat/status?intentId=${encodeURIComponent(intentId)}`),
  }
}

function nairaRequest(creatorId: string, quote: NairaQuote, form: Form): Record<string, unknown> {
  const [senderName, payerEmail, memo] = [form.name, form.email, form.message].map((text) => text.trim())
  return {
    creatorId,
    amount: quote.cents / 100,
    amountNgn: quote.amountNgn,
    ...(senderName && { senderName }),
    ...(payerEmail && { payerEmail }),
    ...(memo && { memo }),
    ...(form.anonymous && { isAnonymous: true }),
  }
}

function nairaTipOf(intent: FiatIntent, quote: NairaQuote, form: Form): NairaTip {
  const { intentId, checkoutUrl, expiresAt, paymentInstructions: account } = intent
  return {
    intentId,
    checkoutUrl,
    expiresAt,
    amountUsd: quote.cents / 100,
    amountNgn: account?.amount ?? quote.amountNgn,
    receivedUsd: quote.receivedUsd,
    email: form.email.trim() !== '' && !form.anonymous,
    account:
      account === null
        ? undefined
        : { bank: account.bankName, number: account.accountNumber, name: account.accountName },
  }
}
