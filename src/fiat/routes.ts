import type { Context } from 'koa'
import { type Route, route } from '../http/endpoint.js'
import { idempotent } from '../http/idempotency.js'
import { clientAddress } from '../http/limits/client-address.js'
import { nameRow, originOf } from '../http/request-id.js'
import type { ExchangeRates } from '../market/exchange-rates.js'
import type { Services } from '../services.js'
import { createFiatIntent, quoteFiatTip } from './intents/create-intent.js'
import { readFiatStatus } from './intents/read-status.js'
import type { NairaSession } from './intents/store-intent.js'
import {
  type FiatIntentInput,
  fiatIntentAnswer,
  fiatIntentInput,
  fiatRateAnswer,
  fiatRateInput,
  fiatStatusAnswer,
  fiatStatusInput,
} from './schemas.js'

/** Tips in naira. app.ts forbids caches to store these answers and errors. `sessionOf`: the SDK session of a request, if it has one. */
export function fiatRoutes(
  services: Services,
  rates: ExchangeRates,
  sessionOf: (ctx: Context) => Promise<NairaSession | undefined>,
): Route[] {
  const { db, config } = services
  return [
    route(
      {
        method: 'post',
        path: '/payments/fiat/intent',
        summary: 'Ask for a tip in NGN: a checkout page or a bank account to transfer to',
        credential: 'none',
        pausedBy: ['naira-intents', 'maintenance'],
        limit: 'intents',
        idempotent: true,
        input: fiatIntentInput,
        invalid: 'fiat_intent_fields_required',
        output: fiatIntentAnswer,
        errors: [
          'invalid_amount',
          'invalid_payment_reference',
          'invalid_metadata',
          'creator_not_found',
          'rate_unavailable',
          'payment_refused',
        ],
      },
      idempotent(
        {
          db,
          scope: (ctx) => `/payments/fiat/intent ${clientAddress(ctx)}`,
          // Also for an intent that has ended: a repetition must never open a second charge.
          stillServes: async () => true,
        },
        async (input: FiatIntentInput, ctx, request) => {
          const caller = {
            network: clientAddress(ctx),
            keyed: request,
            origin: originOf(ctx),
            session: await sessionOf(ctx),
          }
          const answer = await createFiatIntent(services, rates, input, caller)
          nameRow(ctx, { tip: answer.intentId })
          return answer
        },
      ),
    ),
    route(
      {
        method: 'get',
        path: '/payments/fiat/status',
        summary: 'How a fiat tip stands; suggested every 5 to 10 seconds',
        credential: 'none',
        limit: { name: 'status', address: 'sdkAddress', key: ({ intentId }) => intentId },
        input: fiatStatusInput,
        invalid: 'intent_id_required',
        output: fiatStatusAnswer,
        errors: ['payment_intent_not_found'],
      },
      ({ intentId }) => readFiatStatus(db, intentId),
    ),
    route(
      {
        method: 'get',
        path: '/payments/fiat/rate',
        summary: 'What a tip in USD would charge in NGN now',
        credential: 'none',
        limit: 'reads',
        input: fiatRateInput,
        invalid: 'invalid_amount',
        output: fiatRateAnswer,
        errors: ['rate_unavailable'],
      },
      ({ amount }) => quoteFiatTip(config, rates, amount),
    ),
  ]
}
