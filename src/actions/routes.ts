import type { Middleware } from 'koa'
import { nothing } from '../accounts/schemas.js'
import { type Route, route } from '../http/endpoint.js'
import { limitHeaders } from '../http/limits/rate-limits.js'
import { nameRow, originOf } from '../http/request-id.js'
import { noStore } from '../http/security/response-headers.js'
import type { TokenPrices } from '../market/token-prices.js'
import { intentErrors } from '../sdk/routes.js'
import type { Services } from '../services.js'
import { createRecorder } from '../tips/record/record-claim.js'
import {
  actionOutput,
  completedOutput,
  externalLinkOutput,
  handleInput,
  rulesOutput,
  sentInput,
  tipInput,
  transactionOutput,
} from './schemas.js'
import { claimFromCallback, createTipTransaction, describeTip, linkToPage } from './tip-action.js'

const ownPath = /^\/actions(\/|[.]json$)/i
/** Solana mainnet, by its genesis hash (CAIP-2). */
const chainId = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
/** The headers that Solana Actions 2.4 asks for, on every answer. `Cache-Control`: @solana/pay sends it. */
const actionHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET,POST,PUT,OPTIONS',
  'Access-Control-Allow-Headers':
    'Content-Type, Authorization, Content-Encoding, Accept-Encoding, X-Accept-Action-Version, X-Accept-Blockchain-Ids, Cache-Control',
  'Access-Control-Expose-Headers': [
    'X-Action-Version',
    'X-Blockchain-Ids',
    'X-Request-Id',
    ...limitHeaders,
  ].join(', '),
  'X-Action-Version': '2.4',
  'X-Blockchain-Ids': chainId,
}

/** The first is for the most used client, which knows `*` only directly after a slash. */
const rules = [
  { pathPattern: '/@**', apiPath: '/actions/tip/**' },
  { pathPattern: '/@*', apiPath: '/actions/tip/*' },
]

/** Lets every wallet's page use the Actions: sets their headers, also on errors, and answers OPTIONS. */
export const serveWallets: Middleware = (ctx, next) => {
  if (!ownPath.test(ctx.path)) return next()
  ctx.set(actionHeaders)
  if (ctx.method !== 'OPTIONS') return next()
  ctx.status = 204
  return undefined
}

/** `/actions.json` and `/actions/*`: tips by any wallet, with Solana Actions and Solana Pay transaction requests. */
export function actionRoutes(services: Services, prices: TokenPrices): Route[] {
  const record = createRecorder(services)
  return [
    route(
      {
        method: 'get',
        path: '/actions.json',
        summary: 'Which pages have a Solana Action',
        credential: 'none',
        limit: 'reads',
        input: nothing,
        invalid: 'invalid_json',
        output: rulesOutput,
        errors: [],
      },
      async () => ({ rules }),
    ),
    route(
      {
        method: 'get',
        path: '/actions/tip/:handle',
        summary: 'Solana Action and Solana Pay transaction request: whom a wallet may tip, and how much',
        credential: 'none',
        limit: 'reads',
        input: handleInput,
        invalid: 'creator_not_found',
        output: actionOutput,
        errors: [],
      },
      ({ handle }) => describeTip(services, handle),
      [noStore],
    ),
    route(
      {
        method: 'post',
        path: '/actions/tip/:handle',
        summary: 'Solana Action and Solana Pay transaction request: the transaction for this wallet',
        credential: 'none',
        pausedBy: ['intents', 'maintenance'],
        limit: 'intents',
        input: tipInput,
        inQuery: ['amount', 'token', 'message'],
        invalid: 'invalid_account',
        output: transactionOutput,
        errors: ['invalid_token', 'creator_not_found', ...intentErrors],
      },
      async (input, ctx) => {
        const { intentId, answer } = await createTipTransaction(services, prices, input, originOf(ctx))
        nameRow(ctx, { intent: intentId })
        return answer
      },
      [noStore],
    ),
    route(
      {
        method: 'post',
        path: '/actions/tip/:handle/sent',
        summary: 'Solana Action: record the tip that a wallet has sent, once per transaction signature',
        credential: 'none',
        pausedBy: ['maintenance'],
        limit: 'tipsCreate',
        input: sentInput,
        inQuery: ['intent'],
        invalid: 'invalid_account',
        output: completedOutput,
        errors: ['invalid_tx_signature', 'creator_not_found', 'payment_intent_not_found'],
      },
      async (input, ctx) => {
        const { claim, answer } = await claimFromCallback(services, input, originOf(ctx))
        nameRow(ctx, { tip: claim.signature })
        await record(claim)
        services.wake('verifier')
        return answer
      },
      [noStore],
    ),
    route(
      {
        method: 'post',
        path: '/actions/tip/:handle/naira',
        summary: 'Solana Action: the page where the creator takes naira',
        credential: 'none',
        limit: 'reads',
        input: handleInput,
        invalid: 'invalid_json',
        output: externalLinkOutput,
        errors: ['creator_not_found'],
      },
      ({ handle }) => linkToPage(services, handle),
    ),
  ]
}
