import { signedIn } from '../../accounts/sessions/auth.js'
import { answerCsv } from '../../http/csv.js'
import { answered, type Route, route } from '../../http/endpoint.js'
import { cursorOf } from '../../http/paging.js'
import type { Services } from '../../services.js'
import {
  creatorTipsAnswer,
  creatorTipsInput,
  dailyAnswer,
  dailyInput,
  tokenBalancesAnswer,
  tokenBalancesInput,
} from './creator-schemas.js'
import { creatorTipsCsv, listCreatorTips } from './creator-tips.js'
import { dailyTips } from './daily-sums.js'
import { createTokenBalances } from './wallet-tokens.js'

/** The dashboard's lists of received tips. app.ts checks the session for these paths before routing. */
export function creatorTipRoutes(services: Pick<Services, 'db' | 'reads' | 'chain'>): Route[] {
  const tokenBalances = createTokenBalances(services)
  return [
    route(
      {
        method: 'get',
        path: '/creators/tips',
        list: true,
        summary: 'The tips received, newest first',
        credential: 'session',
        limit: 'reads',
        input: creatorTipsInput,
        invalid: 'invalid_cursor',
        output: creatorTipsAnswer,
        errors: [
          'invalid_limit',
          'invalid_token',
          'invalid_status',
          'invalid_from',
          'invalid_to',
          'invalid_q',
          'invalid_sender',
          'invalid_format',
          'unauthorized',
        ],
        csv: true,
      },
      async (input, ctx) => {
        const { tips, next, searchedSince } = await listCreatorTips(services, signedIn(ctx).account.id, input)
        const nextCursor = cursorOf(next)
        if (input.format === 'json')
          return { tips, nextCursor, searchedSince: searchedSince?.toISOString() ?? null }
        answerCsv(ctx, 'tips.csv', creatorTipsCsv(tips), nextCursor)
        return answered
      },
    ),
    route(
      {
        method: 'get',
        path: '/creators/tips/daily',
        list: true,
        summary: 'Number and value of the tips received on each of the last days',
        credential: 'session',
        limit: 'reads',
        input: dailyInput,
        invalid: 'invalid_days',
        output: dailyAnswer,
        errors: ['invalid_time_zone', 'unauthorized'],
      },
      async (input, ctx) => ({ days: await dailyTips(services, signedIn(ctx).account.id, input) }),
    ),
    route(
      {
        method: 'get',
        path: '/creators/balance/tokens',
        summary: 'The tokens besides USDC in the own custody wallet',
        credential: 'session',
        limit: 'reads',
        input: tokenBalancesInput,
        invalid: 'unauthorized',
        output: tokenBalancesAnswer,
        errors: ['service_unavailable'],
      },
      async (_, ctx) => {
        const wallet = signedIn(ctx).account.walletPublicKey
        return { tokens: wallet === null ? [] : await tokenBalances(wallet) }
      },
    ),
  ]
}
