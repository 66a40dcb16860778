import { type Route, route } from '../http/endpoint.js'
import type { KeyedLimit } from '../http/limits/rate-limits.js'
import { iconPath } from '../http/pages/icon.js'
import { nameRow, originOf } from '../http/request-id.js'
import { readBearer } from '../http/security/credentials.js'
import { noStore } from '../http/security/response-headers.js'
import { intentOutput } from '../intents/schemas.js'
import type { ErrorCode } from '../kernel/errors.js'
import type { TokenPrices } from '../market/token-prices.js'
import type { Services } from '../services.js'
import { createSdkTip } from './create-tip.js'
import { listEvents } from './list-events.js'
import { createPayLinkTransaction, findPayLink } from './pay-link.js'
import { listSdkIntents, readSdkIntent } from './read-intent.js'
import {
  eventsInput,
  eventsOutput,
  handoffInput,
  handoffOutput,
  initInput,
  initOutput,
  intentListOutput,
  intentStatusInput,
  intentStatusOutput,
  nothing,
  payInput,
  payLinkInput,
  payLinkOutput,
  payOutput,
  redeemInput,
  redeemOutput,
  renewOutput,
  sessionOutput,
  tipInput,
} from './schemas.js'
import {
  keyOwner,
  presentedSession,
  requireKey,
  requireOpenSession,
  requireReadableSession,
  requireTippingSession,
} from './sessions/auth.js'
import { describeSession } from './sessions/describe-session.js'
import { createHandoff, redeemHandoff } from './sessions/handoff.js'
import { initSession, renewSession } from './sessions/init-session.js'
import { meansCreator } from './sessions/match-creator.js'

/** The errors of creating an intent. */
export const intentErrors: readonly ErrorCode[] = [
  'invalid_amount',
  'creator_wallet_pending',
  'amount_below_minimum',
  'no_price',
  'price_unavailable',
  'no_route',
  'swap_engines_unavailable',
]

/** The errors of a session token. They have one text. `session_unknown` also stands for a deleted session. */
const readingErrors: readonly ErrorCode[] = ['session_unknown', 'session_expired']
const sessionErrors: readonly ErrorCode[] = [...readingErrors, 'session_consumed']
const tippingErrors: readonly ErrorCode[] = [...sessionErrors, 'session_exhausted']

/** Counts the presented key before it is checked, so that guessed keys count too. */
const perKey: KeyedLimit<unknown> = {
  name: 'apiKey',
  address: 'sdkAddress',
  key: (_, ctx) => readBearer(ctx) ?? '',
}

/** The routes of creators' backends, with an API key. */
function backendRoutes(services: Services): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/sdk/init',
        summary: 'Open an SDK session for an embed on one of the own sites',
        credential: 'api-key',
        limit: perKey,
        input: initInput,
        invalid: 'sdk_init_fields_required',
        output: initOutput,
        errors: [
          'invalid_api_key',
          'creator_not_found',
          'unauthorized_origin',
          'creator_wallet_pending',
          'invalid_payment_reference',
          'invalid_metadata',
        ],
      },
      async (input, ctx) => initSession(services, await keyOwner(services, ctx), input),
      [noStore, requireKey(services)],
    ),
    route(
      {
        method: 'get',
        path: '/sdk/events',
        list: true,
        summary: 'The newest 50 confirmed tips of the own account between two moments',
        credential: 'api-key',
        limit: perKey,
        input: eventsInput,
        invalid: 'creator_id_required',
        output: eventsOutput,
        errors: ['invalid_api_key', 'invalid_since', 'invalid_before'],
        internal: 'events_failed',
      },
      async ({ creatorId, ...range }, ctx) => {
        const userId = await keyOwner(services, ctx)
        const own = await meansCreator(services, creatorId, userId)
        return own ? services.reads((db) => listEvents(db, userId, range)) : { events: [], hasMore: false }
      },
      [noStore, requireKey(services)],
    ),
  ]
}

/** The routes of supporters' pages, with a session token. */
function pageRoutes(services: Services, prices: TokenPrices): Route[] {
  const { db } = services
  const readable = [noStore, requireReadableSession(services)]
  return [
    route(
      {
        method: 'post',
        path: '/sdk/tip',
        summary: 'Make a tip intent within a session',
        credential: 'sdk-session',
        pausedBy: ['intents', 'maintenance'],
        limit: 'intents',
        input: tipInput,
        invalid: 'intent_fields_required',
        output: intentOutput,
        errors: [
          'invalid_session_token',
          ...tippingErrors,
          'invalid_input_token_mint',
          'invalid_source_wallet',
          'session_of_another_creator',
          'invalid_payment_reference',
          'invalid_metadata',
          ...intentErrors,
        ],
      },
      async (input, ctx) => {
        const { session } = presentedSession(ctx)
        const answer = await createSdkTip(services, prices, session, input, originOf(ctx))
        nameRow(ctx, { intent: answer.intentId })
        return answer
      },
      [noStore, requireTippingSession(services)],
    ),
    route(
      {
        method: 'get',
        path: '/sdk/intents/:intentId',
        summary: "One of the session's intents and where its payment stands",
        credential: 'sdk-session',
        limit: {
          name: 'sdkIntentReads',
          address: 'sdkAddress',
          key: ({ intentId }, ctx) => `${presentedSession(ctx).session.id} ${intentId}`,
        },
        input: intentStatusInput,
        invalid: 'payment_intent_not_found',
        output: intentStatusOutput,
        errors: ['invalid_session_token', ...readingErrors],
      },
      ({ intentId }, ctx) => readSdkIntent(services, presentedSession(ctx).session.id, intentId),
      readable,
    ),
    route(
      {
        method: 'get',
        path: '/sdk/intents',
        summary: "The session's newest intents and where their payments stand",
        credential: 'sdk-session',
        limit: {
          name: 'sdkIntentReads',
          address: 'sdkAddress',
          key: (_, ctx) => presentedSession(ctx).session.id,
        },
        input: nothing,
        invalid: 'invalid_session_token',
        output: intentListOutput,
        errors: [...readingErrors],
      },
      async (_, ctx) => ({ intents: await listSdkIntents(services, presentedSession(ctx).session.id) }),
      readable,
    ),
    route(
      {
        method: 'get',
        path: '/sdk/session',
        summary: 'What a tipping page needs to know about its session',
        credential: 'sdk-session',
        limit: 'reads',
        input: nothing,
        invalid: 'invalid_session_token',
        output: sessionOutput,
        errors: [...readingErrors, 'creator_wallet_pending'],
      },
      (_, ctx) => describeSession(services, presentedSession(ctx).session),
      readable,
    ),
    route(
      {
        method: 'post',
        path: '/sdk/session/renew',
        summary: 'Another session for the same creator and site, after the tip of this one',
        credential: 'sdk-session',
        limit: 'intents',
        input: nothing,
        invalid: 'invalid_json',
        output: renewOutput,
        errors: ['invalid_session_token', ...readingErrors, 'session_unpaid', 'unauthorized_origin'],
      },
      (_, ctx) => renewSession(services, presentedSession(ctx).session),
      readable,
    ),
    route(
      {
        method: 'post',
        path: '/sdk/handoff',
        summary:
          'A code for a minute that continues the session elsewhere or, with an amount, lets a wallet pay it',
        credential: 'sdk-session',
        limit: 'intents',
        input: handoffInput,
        invalid: 'invalid_json',
        output: handoffOutput,
        errors: ['invalid_session_token', ...sessionErrors, 'invalid_amount', 'invalid_input_token_mint'],
      },
      (input, ctx) => createHandoff(db, presentedSession(ctx), input),
      [noStore, requireOpenSession(services)],
    ),
  ]
}

/** The routes of other devices and wallets, with a code. */
function codeRoutes(services: Services, prices: TokenPrices): Route[] {
  const { db, config } = services
  const icon = `${config.http.publicUrl}${iconPath}`
  return [
    route(
      {
        method: 'post',
        path: '/sdk/handoff/redeem',
        summary: 'Take over the session of a code, once',
        credential: 'none',
        limit: 'intents',
        input: redeemInput,
        invalid: 'handoff_code_required',
        output: redeemOutput,
        errors: ['invalid_handoff_code'],
      },
      ({ code }) => redeemHandoff(db, code),
      [noStore],
    ),
    route(
      {
        method: 'get',
        path: '/pay/:code',
        summary: 'Solana Pay transaction request: whom a wallet is about to pay',
        credential: 'none',
        limit: 'intents',
        input: payLinkInput,
        invalid: 'not_found',
        output: payLinkOutput,
        errors: [],
      },
      async ({ code }) => ({ label: (await findPayLink(db, code)).creatorName, icon }),
      [noStore],
    ),
    route(
      {
        method: 'post',
        path: '/pay/:code',
        summary: 'Solana Pay transaction request: the transaction for this wallet',
        credential: 'none',
        pausedBy: ['intents', 'maintenance'],
        limit: 'intents',
        input: payInput,
        invalid: 'invalid_account',
        output: payOutput,
        errors: ['not_found', ...tippingErrors, ...intentErrors],
      },
      (input, ctx) => createPayLinkTransaction(services, prices, input, originOf(ctx)),
      [noStore],
    ),
  ]
}

/** `/sdk/*` and `/pay/*`: the routes for creators' backends, embedded pages and supporters' wallets. */
export function sdkRoutes(services: Services, prices: TokenPrices): Route[] {
  return [...backendRoutes(services), ...pageRoutes(services, prices), ...codeRoutes(services, prices)]
}
