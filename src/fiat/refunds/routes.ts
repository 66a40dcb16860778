import { perAccount, signedIn, userOf, whileOpen } from '../../accounts/sessions/auth.js'
import { type Route, route } from '../../http/endpoint.js'
import { idempotent } from '../../http/idempotency.js'
import type { ExchangeRates } from '../../market/exchange-rates.js'
import type { Services } from '../../services.js'
import { acceptShort, giveShortBack } from './decide-short.js'
import { listOwnRefunds, presentRefunds, refundTip } from './request-refund.js'
import {
  type RefundInput,
  refundAnswer,
  refundInput,
  refundsAnswer,
  refundsInput,
  shortAnswer,
} from './schemas.js'

/** What an own naira tip that was paid too little becomes. */
const ofShort = {
  method: 'post',
  credential: 'session',
  pausedBy: ['maintenance'],
  limit: perAccount('withdraw', 'short'),
  input: refundsInput,
  invalid: 'tip_not_found',
  output: shortAnswer,
  errors: [
    'unauthorized',
    'forbidden',
    'account_frozen',
    'tip_not_in_naira',
    'tip_disputed',
    'short_decided',
    'service_unavailable',
  ],
} as const

/** Giving naira tips back. app.ts guards these paths with the session, before routing. */
export function refundRoutes(services: Services, rates: ExchangeRates): Route[] {
  const { db } = services
  return [
    route(
      {
        method: 'post',
        path: '/creators/tips/:id/refund',
        summary: 'Give a naira tip, or a part of it, back to its payer',
        credential: 'session',
        pausedBy: ['maintenance'],
        limit: perAccount('withdraw', 'refund'),
        idempotent: true,
        input: refundInput,
        invalid: 'invalid_amount',
        output: refundAnswer,
        errors: [
          'unauthorized',
          'forbidden',
          'account_frozen',
          'step_up_required',
          'invalid_code',
          'account_locked',
          'tip_not_found',
          'tip_not_in_naira',
          'tip_not_paid',
          'tip_disputed',
          'tip_refunded',
          'too_many_refunds',
          'refund_too_late',
          'recently_changed',
          'rate_unavailable',
          'insufficient_balance',
        ],
      },
      idempotent(
        {
          db,
          scope: (ctx) => `/creators/tips/refund ${userOf(ctx)}`,
          // Also when it has failed: a repetition must never send a second one.
          stillServes: async () => true,
        },
        (input: RefundInput, ctx, keyedRequest) =>
          refundTip(whileOpen(services, signedIn(ctx)), rates, userOf(ctx), input, keyedRequest),
      ),
    ),
    route(
      {
        method: 'get',
        path: '/creators/tips/:id/refunds',
        summary: 'How the refunds of an own naira tip stand, newest first',
        credential: 'session',
        limit: 'reads',
        input: refundsInput,
        invalid: 'tip_not_found',
        output: refundsAnswer,
        errors: ['unauthorized', 'tip_not_in_naira'],
      },
      async ({ id }, ctx) => ({
        refunds: presentRefunds(await listOwnRefunds(db, userOf(ctx), id)),
      }),
    ),
    route(
      {
        ...ofShort,
        path: '/creators/tips/:id/accept-short',
        summary: 'Take what arrived of a naira tip that was paid too little',
      },
      ({ id }, ctx) => acceptShort(whileOpen(services, signedIn(ctx)), userOf(ctx), id),
    ),
    route(
      {
        ...ofShort,
        path: '/creators/tips/:id/give-back',
        summary: 'Give what arrived of a naira tip that was paid too little back to its payer',
      },
      ({ id }, ctx) => giveShortBack(whileOpen(services, signedIn(ctx)), userOf(ctx), id),
    ),
  ]
}
