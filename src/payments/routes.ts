import { type Route, route } from '../http/endpoint.js'
import type { Services } from '../services.js'
import { createIntent } from './create-intent.js'
import type { PriceBook } from './price-book.js'
import { intentInput, intentOutput } from './schemas.js'

/** Crypto payment intents. */
export function paymentRoutes(services: Services, prices: PriceBook): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/payments/intent',
        summary: 'Build the unsigned transaction of a crypto tip',
        credential: 'none',
        input: intentInput,
        invalid: 'intent_fields_required',
        output: intentOutput,
        errors: [
          'invalid_input_token_mint',
          'invalid_source_wallet',
          'invalid_amount',
          'creator_not_found',
          'creator_wallet_pending',
          'amount_below_minimum',
          'no_price',
          'price_unavailable',
          'swap_engines_unavailable',
        ],
      },
      (input) => createIntent(services, prices, input),
    ),
  ]
}
