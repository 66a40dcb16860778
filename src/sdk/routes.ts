import type { z } from 'zod'
import { type Endpoint, type Route, route } from '../http/endpoint.js'
import { noStore } from '../http/no-store.js'
import type { ErrorCode } from '../kernel/errors.js'
import type { PriceBook } from '../payments/price-book.js'
import { intentOutput } from '../payments/schemas.js'
import type { Services } from '../services.js'
import {
  keyOwner,
  presentedSession,
  requireKey,
  requireOpenSession,
  requireReadableSession,
  requireTippingSession,
} from './auth.js'
import { isCreator } from './creator.js'
import { iconPath } from './embed.js'
import { listEvents } from './events.js'
import { createHandoff, redeemHandoff } from './handoff.js'
import { initSession } from './init.js'
import { readSdkIntent } from './intent.js'
import { describeSession } from './page.js'
import { findPayLink, payLink } from './pay.js'
import {
  eventsInput,
  eventsOutput,
  handoffInput,
  handoffOutput,
  initInput,
  initOutput,
  intentStatusInput,
  intentStatusOutput,
  nothing,
  payInput,
  payLinkInput,
  payLinkOutput,
  payOutput,
  redeemInput,
  redeemOutput,
  sessionOutput,
  tipInput,
} from './schemas.js'
import { createSdkTip } from './tip.js'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType>

/** What making an intent may be refused with. */
const intentErrors = [
  'invalid_amount',
  'creator_wallet_pending',
  'amount_below_minimum',
  'no_price',
  'price_unavailable',
  'swap_engines_unavailable',
] as const satisfies readonly ErrorCode[]

const initEndpoint = {
  method: 'post',
  path: '/sdk/init',
  summary: 'Open an SDK session for an embed on one of the own sites',
  credential: 'api-key',
  input: initInput,
  invalid: 'sdk_init_fields_required',
  output: initOutput,
  errors: ['invalid_api_key', 'creator_not_found', 'unauthorized_origin', 'creator_wallet_pending'],
} as const satisfies AnyEndpoint

const eventsEndpoint = {
  method: 'get',
  path: '/sdk/events',
  summary: 'The newest 50 confirmed tips of the own account between two moments',
  credential: 'api-key',
  input: eventsInput,
  invalid: 'creator_id_required',
  output: eventsOutput,
  errors: ['invalid_api_key', 'invalid_since', 'invalid_before'],
  internal: 'events_failed',
} as const satisfies AnyEndpoint

const tipEndpoint = {
  method: 'post',
  path: '/sdk/tip',
  summary: 'Make a tip intent within a session',
  credential: 'sdk-session',
  input: tipInput,
  invalid: 'intent_fields_required',
  output: intentOutput,
  errors: [
    'invalid_session_token',
    'invalid_input_token_mint',
    'invalid_source_wallet',
    'session_of_another_creator',
    ...intentErrors,
  ],
} as const satisfies AnyEndpoint

const intentEndpoint = {
  method: 'get',
  path: '/sdk/intents/:intentId',
  summary: "One of the session's intents and where its payment stands",
  credential: 'sdk-session',
  input: intentStatusInput,
  invalid: 'payment_intent_not_found',
  output: intentStatusOutput,
  errors: ['invalid_session_token'],
} as const satisfies AnyEndpoint

const sessionEndpoint = {
  method: 'get',
  path: '/sdk/session',
  summary: 'What a tipping page needs to know about its session',
  credential: 'sdk-session',
  input: nothing,
  invalid: 'invalid_session_token',
  output: sessionOutput,
  errors: ['creator_wallet_pending'],
} as const satisfies AnyEndpoint

const handoffEndpoint = {
  method: 'post',
  path: '/sdk/handoff',
  summary:
    'A code for a minute that continues the session elsewhere or, with an amount, lets a wallet pay it',
  credential: 'sdk-session',
  input: handoffInput,
  invalid: 'invalid_json',
  output: handoffOutput,
  errors: ['invalid_session_token', 'invalid_amount', 'invalid_input_token_mint'],
} as const satisfies AnyEndpoint

const redeemEndpoint = {
  method: 'post',
  path: '/sdk/handoff/redeem',
  summary: 'Take over the session of a code, once',
  credential: 'none',
  input: redeemInput,
  invalid: 'handoff_code_required',
  output: redeemOutput,
  errors: ['invalid_handoff_code'],
} as const satisfies AnyEndpoint

const payLinkEndpoint = {
  method: 'get',
  path: '/pay/:code',
  summary: 'Solana Pay transaction request: whom a wallet is about to pay',
  credential: 'none',
  input: payLinkInput,
  invalid: 'not_found',
  output: payLinkOutput,
  errors: [],
} as const satisfies AnyEndpoint

const payEndpoint = {
  method: 'post',
  path: '/pay/:code',
  summary: 'Solana Pay transaction request: the transaction for this wallet',
  credential: 'none',
  input: payInput,
  invalid: 'invalid_account',
  output: payOutput,
  errors: ['not_found', 'invalid_session_token', ...intentErrors],
} as const satisfies AnyEndpoint

/** What creators' backends do with an API key. */
function backendRoutes(services: Services): Route[] {
  const { db } = services
  return [
    route(initEndpoint, async (input, ctx) => initSession(services, await keyOwner(services, ctx), input), [
      noStore,
      requireKey,
    ]),
    route(
      eventsEndpoint,
      async ({ creatorId, ...span }, ctx) => {
        const userId = await keyOwner(services, ctx)
        const own = await isCreator(services, creatorId, userId)
        return { events: own ? await listEvents(db, userId, span) : [] }
      },
      [noStore, requireKey],
    ),
  ]
}

/** What a page does with a session token. */
function pageRoutes(services: Services, prices: PriceBook): Route[] {
  const { db } = services
  const readable = [noStore, requireReadableSession(services)]
  return [
    route(tipEndpoint, (input, ctx) => createSdkTip(services, prices, presentedSession(ctx).session, input), [
      noStore,
      requireTippingSession(services),
    ]),
    route(
      intentEndpoint,
      ({ intentId }, ctx) => readSdkIntent(db, presentedSession(ctx).session.id, intentId),
      readable,
    ),
    route(sessionEndpoint, (_, ctx) => describeSession(services, presentedSession(ctx).session), readable),
    route(handoffEndpoint, (input, ctx) => createHandoff(db, presentedSession(ctx), input), [
      noStore,
      requireOpenSession(services),
    ]),
  ]
}

/** What another device or a wallet does with a code. */
function codeRoutes(services: Services, prices: PriceBook): Route[] {
  const { db, config } = services
  const icon = `${config.http.publicUrl}${iconPath}`
  return [
    route(redeemEndpoint, ({ code }) => redeemHandoff(db, code), [noStore]),
    route(payLinkEndpoint, async ({ code }) => ({ label: (await findPayLink(db, code)).creatorName, icon }), [
      noStore,
    ]),
    route(payEndpoint, (input) => payLink(services, prices, input), [noStore]),
  ]
}

/** `/sdk/*` and `/pay/*`: what creators' backends, their pages and their supporters' wallets ask. */
export function sdkRoutes(services: Services, prices: PriceBook): Route[] {
  return [...backendRoutes(services), ...pageRoutes(services, prices), ...codeRoutes(services, prices)]
}
