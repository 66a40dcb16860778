import type { z } from 'zod'
import type { Endpoint } from '../http/endpoint.js'
import type { KeyedLimit } from '../http/limits/rate-limits.js'
import { readBearer } from '../http/security/credentials.js'
import { intentOutput } from '../intents/schemas.js'
import type { ErrorCode } from '../kernel/errors.js'
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
import { presentedSession } from './sessions/auth.js'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType>

/** The errors of creating an intent. */
const intentErrors = [
  'invalid_amount',
  'creator_wallet_pending',
  'amount_below_minimum',
  'no_price',
  'price_unavailable',
  'no_route',
  'swap_engines_unavailable',
] as const satisfies readonly ErrorCode[]

/** The errors of a session token. They have one text. `session_unknown` also stands for a deleted session. */
const readingErrors = ['session_unknown', 'session_expired'] as const satisfies readonly ErrorCode[]
const sessionErrors = [...readingErrors, 'session_consumed'] as const satisfies readonly ErrorCode[]
const tippingErrors = [...sessionErrors, 'session_exhausted'] as const satisfies readonly ErrorCode[]

/** Counts the presented key before it is checked, so that guessed keys count too. */
const perKey = {
  name: 'apiKey',
  address: 'sdkAddress',
  key: (_: unknown, ctx) => readBearer(ctx) ?? '',
} as const satisfies KeyedLimit<unknown>

export const initEndpoint = {
  method: 'post',
  path: '/sdk/init',
  summary: 'Open an SDK session for an embed on one of the own sites',
  credential: 'api-key',
  limit: perKey,
  input: initInput,
  invalid: 'sdk_init_fields_required',
  output: initOutput,
  errors: ['invalid_api_key', 'creator_not_found', 'unauthorized_origin', 'creator_wallet_pending'],
} as const satisfies AnyEndpoint

export const eventsEndpoint = {
  method: 'get',
  path: '/sdk/events',
  summary: 'The newest 50 confirmed tips of the own account between two moments',
  credential: 'api-key',
  limit: perKey,
  input: eventsInput,
  invalid: 'creator_id_required',
  output: eventsOutput,
  errors: ['invalid_api_key', 'invalid_since', 'invalid_before'],
  internal: 'events_failed',
} as const satisfies AnyEndpoint

export const tipEndpoint = {
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
    ...intentErrors,
  ],
} as const satisfies AnyEndpoint

export const intentEndpoint = {
  method: 'get',
  path: '/sdk/intents/:intentId',
  summary: "One of the session's intents and where its payment stands",
  credential: 'sdk-session',
  limit: {
    name: 'sdkIntentReads',
    address: 'sdkAddress',
    key: ({ intentId }: z.output<typeof intentStatusInput>, ctx) =>
      `${presentedSession(ctx).session.id} ${intentId}`,
  },
  input: intentStatusInput,
  invalid: 'payment_intent_not_found',
  output: intentStatusOutput,
  errors: ['invalid_session_token', ...readingErrors],
} as const satisfies AnyEndpoint

export const intentListEndpoint = {
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
} as const satisfies AnyEndpoint

export const sessionEndpoint = {
  method: 'get',
  path: '/sdk/session',
  summary: 'What a tipping page needs to know about its session',
  credential: 'sdk-session',
  limit: 'reads',
  input: nothing,
  invalid: 'invalid_session_token',
  output: sessionOutput,
  errors: [...readingErrors, 'creator_wallet_pending'],
} as const satisfies AnyEndpoint

export const renewEndpoint = {
  method: 'post',
  path: '/sdk/session/renew',
  summary: 'Another session for the same creator and site, after the tip of this one',
  credential: 'sdk-session',
  limit: 'intents',
  input: nothing,
  invalid: 'invalid_json',
  output: renewOutput,
  errors: ['invalid_session_token', ...readingErrors, 'session_unpaid', 'unauthorized_origin'],
} as const satisfies AnyEndpoint

export const handoffEndpoint = {
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
} as const satisfies AnyEndpoint

export const redeemEndpoint = {
  method: 'post',
  path: '/sdk/handoff/redeem',
  summary: 'Take over the session of a code, once',
  credential: 'none',
  limit: 'intents',
  input: redeemInput,
  invalid: 'handoff_code_required',
  output: redeemOutput,
  errors: ['invalid_handoff_code'],
} as const satisfies AnyEndpoint

export const payLinkEndpoint = {
  method: 'get',
  path: '/pay/:code',
  summary: 'Solana Pay transaction request: whom a wallet is about to pay',
  credential: 'none',
  limit: 'intents',
  input: payLinkInput,
  invalid: 'not_found',
  output: payLinkOutput,
  errors: [],
} as const satisfies AnyEndpoint

export const payEndpoint = {
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
} as const satisfies AnyEndpoint
