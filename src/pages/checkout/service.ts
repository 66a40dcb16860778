import type { FiatIntentAnswer, FiatRateAnswer, FiatStatusAnswer } from '../../fiat/schemas.js'
import { TippingError } from '../../sdk/client/errors.js'
import { requestJson } from '../../sdk/client/request.js'
import {
  createTipClient,
  type SessionDescription,
  type SubmittedTip,
  type TipIntentStatus,
  type TipRequest,
} from '../../sdk/client/tip.js'
import { shownLanguage } from '../i18n/checkout.js'
import { isUnanswered } from '../lib/failures.js'
import type { Form, NairaQuote, NairaRate, NairaTip } from './machine/state.js'

export type TipService = ReturnType<typeof createTipService>

const service = { baseUrl: location.origin }

export async function redeem(code: string): Promise<string> {
  const body = { code }
  return (await requestJson<{ sessionToken: string }>(service, 'POST', '/sdk/handoff/redeem', { body }))
    .sessionToken
}

/** Where the session's token comes from. */
interface Tokens {
  get(): Promise<string>
  /** Opens another session, where this page can do so by itself. */
  readonly renew?: () => Promise<string>
}

/**
 * The tokens of a creator's page. A session is opened when somebody is about to pay, and another when it has ended: who only looks
 * opens none.
 */
export function pageTokens(handle: string, held: string | undefined, keep: (token: string) => void): Tokens {
  let token = held === undefined ? undefined : Promise.resolve(held)
  const path = `/page/${encodeURIComponent(handle)}/session`
  function renew(): Promise<string> {
    const opened = requestJson<{ sessionToken: string }>(service, 'POST', path, { body: {} })
    token = opened.then(({ sessionToken }) => sessionToken)
    token.then(keep, () => {
      token = undefined
    })
    return token
  }
  return { get: () => token ?? renew(), renew }
}

export function rateOf({ rate: perUsd, amountNgn, amountUsd }: FiatRateAnswer): NairaRate {
  return { perUsd, chargedPerUsd: amountNgn / amountUsd }
}

/** After each request `onAnswer` gets whether the service answered it. */
export function createTipService(tokens: Tokens, onAnswer: (ok: boolean) => void) {
  const client = async () => createTipClient({ ...service, sessionToken: await tokens.get() })
  /** Once more with another session, if there is one to be had. */
  const inSession = async <Answer>(request: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await request()
    } catch (error) {
      if (tokens.renew === undefined || !(error instanceof TippingError) || error.status !== 401) throw error
      await tokens.renew()
      return request()
    }
  }
  const reported = <Answer>(request: Promise<Answer>): Promise<Answer> => {
    request.then(
      () => onAnswer(true),
      (error: unknown) => onAnswer(!isUnanswered(error)),
    )
    return request
  }
  const get = <Answer>(path: string, sent: { readonly bearer?: string } = {}) =>
    reported(requestJson<Answer>(service, 'GET', path, sent))
  const post = <Answer>(path: string, body: unknown) =>
    reported(
      inSession(async () => requestJson<Answer>(service, 'POST', path, { body, bearer: await tokens.get() })),
    )
  const quoteOf = (cents: number) =>
    get<FiatRateAnswer>(`/payments/fiat/rate?amount=${(cents / 100).toFixed(2)}`)
  return {
    session: () => reported(client().then((one) => one.session())),
    tip: (tip: TipRequest) => reported(inSession(async () => (await client()).tip(tip))),
    intent: (intentId: string) => reported(client().then((one) => one.intent(intentId))),
    record: (tip: SubmittedTip) => reported(client().then((one) => one.record(tip))),
    /** The crypto ones. */
    async intents(): Promise<readonly TipIntentStatus[]> {
      const { intents } = await get<{ intents: (TipIntentStatus | { intentId: string })[] }>('/sdk/intents', {
        bearer: await tokens.get(),
      })
      return intents.filter((intent) => 'transaction' in intent)
    },
    /** A code that continues the session on another device or, with a tip, lets a phone's wallet request its transaction. */
    async handOff(tip: Partial<Pick<TipRequest, 'amount' | 'inputTokenMint'>> = {}): Promise<string> {
      return (await post<{ code: string }>('/sdk/handoff', tip)).code
    },
    /** Opens another session after this one's tip. Returns its checkout's address within this origin. */
    async renew(): Promise<string> {
      const { embedUrl } = await post<{ embedUrl: string }>('/sdk/session/renew', {})
      const { pathname, search, hash } = new URL(embedUrl)
      return pathname + search + hash
    },
    async nairaQuote(cents: number): Promise<NairaQuote> {
      const { amountNgn, finalAmountUsd: receivedUsd } = await quoteOf(cents)
      return { cents, amountNgn, receivedUsd }
    },
    /** `cents`: an amount within the limits. */
    async nairaRate(cents: number): Promise<NairaRate> {
      return rateOf(await quoteOf(cents))
    },
    async nairaTip({ creator, fiat }: SessionDescription, quote: NairaQuote, form: Form): Promise<NairaTip> {
      const request = {
        ...nairaRequest(creator.id, quote, form),
        ...(fiat.collection === 'checkout' && form.way === 'bank_transfer' && { collection: form.way }),
      }
      return nairaTipOf(await post<FiatIntentAnswer>('/payments/fiat/intent', request), quote, form)
    },
    nairaStatus: (intentId: string) =>
      get<FiatStatusAnswer>(`/payments/fiat/status?intentId=${encodeURIComponent(intentId)}`),
  }
}

function nairaRequest(creatorId: string, quote: NairaQuote, form: Form): Record<string, unknown> {
  const [senderName, payerEmail, memo] = [form.name, form.email, form.message].map((text) => text.trim())
  return {
    creatorId,
    amount: quote.cents / 100,
    amountNgn: quote.amountNgn,
    language: shownLanguage,
    ...(senderName && { senderName }),
    ...(payerEmail && { payerEmail }),
    ...(memo && { memo }),
    ...(form.anonymous && { isAnonymous: true }),
  }
}

function nairaTipOf(intent: FiatIntentAnswer, quote: NairaQuote, form: Form): NairaTip {
  const { intentId, checkoutUrl, expiresAt, statusUrl, paymentInstructions: account } = intent
  return {
    intentId,
    checkoutUrl,
    expiresAt,
    statusUrl,
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
