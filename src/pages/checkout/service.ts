import type { SessionDescription, TipIntent, TipIntentStatus } from '../../sdk/client/tip.js'
import { get, post } from '../lib/api.js'
import type { NairaStatus } from './machine/events.js'
import type { Form, NairaQuote, NairaTip, Payment } from './machine/state.js'

/** The API calls of one session's checkout. */
export interface TipService {
  session(): Promise<SessionDescription>
  tip(creatorId: string, cents: number, mint: string, wallet: string, message: string): Promise<TipIntent>
  intent(intentId: string): Promise<TipIntentStatus>
  intents(): Promise<readonly TipIntentStatus[]>
  /** A code that continues the session on another device or, with a tip, lets a phone's wallet request its transaction. */
  handOff(tip?: { readonly amount: number; readonly inputTokenMint: string }): Promise<string>
  record(payment: Payment, intent: TipIntent, senderWallet: string, message: string): Promise<unknown>
  nairaQuote(cents: number): Promise<NairaQuote>
  nairaTip(creatorId: string, quote: NairaQuote, form: Form): Promise<NairaTip>
  nairaStatus(intentId: string): Promise<NairaStatus>
}

interface FiatIntent {
  readonly intentId: string
  readonly checkoutUrl: string | null
  readonly paymentInstructions?: {
    bankName: string
    accountNumber: string
    accountName: string
    amount: number
  }
  readonly expiresAt: string
}

interface Rate {
  readonly amountNgn: number
  readonly platformFee: number
  readonly finalAmountUsd: number
}

/** Exchanges the one-time code of a link for the session token. */
export async function redeem(code: string): Promise<string> {
  return (await post<{ sessionToken: string }>('/sdk/handoff/redeem', { code })).sessionToken
}

export function createTipService(token: string): TipService {
  return {
    session: () => get('/sdk/session', token),
    tip: (creatorId, cents, inputTokenMint, sourceWalletAddress, message) => {
      const tip = { creatorId, amount: cents / 100, inputTokenMint, sourceWalletAddress }
      return post('/sdk/tip', { ...tip, ...(message !== '' && { message }) }, token)
    },
    intent: (intentId) => get(`/sdk/intents/${encodeURIComponent(intentId)}`, token),
    intents: async () => (await get<{ intents: TipIntentStatus[] }>('/sdk/intents', token)).intents,
    handOff: async (tip) => (await post<{ code: string }>('/sdk/handoff', tip ?? {}, token)).code,
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
      const rate = await get<Rate>(`/payments/fiat/rate?amount=${(cents / 100).toFixed(2)}`)
      const { amountNgn, platformFee: feeUsd, finalAmountUsd: receivedUsd } = rate
      return { cents, amountNgn, feeUsd, receivedUsd }
    },
    nairaTip,
    nairaStatus: async (intentId) =>
      (await get<{ status: NairaStatus }>(`/payments/fiat/status?intentId=${encodeURIComponent(intentId)}`))
        .status,
  }
}

async function nairaTip(creatorId: string, quote: NairaQuote, form: Form): Promise<NairaTip> {
  const [senderName, payerEmail, memo] = [form.name, form.email, form.message].map((text) => text.trim())
  const amountUsd = quote.cents / 100
  const intent = await post<FiatIntent>('/payments/fiat/intent', {
    creatorId,
    amount: amountUsd,
    amountNgn: quote.amountNgn,
    ...(senderName && { senderName }),
    ...(payerEmail && { payerEmail }),
    ...(memo && { memo }),
    ...(form.anonymous && { isAnonymous: true }),
  })
  const { intentId, checkoutUrl, expiresAt, paymentInstructions: account } = intent
  return {
    intentId,
    checkoutUrl,
    expiresAt,
    amountUsd,
    amountNgn: account?.amount ?? quote.amountNgn,
    receivedUsd: quote.receivedUsd,
    email: Boolean(payerEmail) && !form.anonymous,
    account: account && { bank: account.bankName, number: account.accountNumber, name: account.accountName },
  }
}
