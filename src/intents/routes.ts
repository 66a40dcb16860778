import { type Route, route } from '../http/endpoint.js'
import { idempotent } from '../http/idempotency.js'
import { clientAddress } from '../http/limits/client-address.js'
import { nameRow, originOf } from '../http/request-id.js'
import type { TokenPrices } from '../market/token-prices.js'
import type { Services } from '../services.js'
import { createIntent, intentCanLand } from './create-intent.js'
import { type IntentAnswer, type IntentInput, intentInput, intentOutput } from './schemas.js'

export function paymentRoutes(services: Services, prices: TokenPrices): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/payments/intent',
        summary: 'Build the unsigned transaction of a crypto tip',
        credential: 'none',
        pausedBy: ['intents', 'maintenance'],
        limit: 'intents',
        idempotent: true,
        input: intentInput,
        invalid: 'intent_fields_required',
        output: intentOutput,
        errors: [
          'invalid_input_token_mint',
          'invalid_source_wallet',
          'invalid_amount',
          'invalid_payment_reference',
          'invalid_metadata',
          'creator_not_found',
          'creator_wallet_pending',
          'amount_below_minimum',
          'no_price',
          'price_unavailable',
          'no_route',
          'swap_engines_unavailable',
        ],
      },
      idempotent(
        {
          db: services.db,
          scope: (ctx) => `/payments/intent ${clientAddress(ctx)}`,
          stillServes: (answer: IntentAnswer) => intentCanLand(services, answer),
        },
        async (input: IntentInput, ctx, keyed) => {
          const answer = await createIntent(services, prices, input, { keyed, origin: originOf(ctx) })
          nameRow(ctx, { intent: answer.intentId })
          return answer
        },
      ),
    ),
  ]
}
