import { ownRead } from '../../accounts/schemas.js'
import { perAccount, signedIn, userOf, whileOpen } from '../../accounts/sessions/auth.js'
import { type Route, route } from '../../http/endpoint.js'
import { cursorOf } from '../../http/paging.js'
import type { ErrorCode } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { handIn } from './hand-in.js'
import { listTakeOuts, presentTakeOut, readTakeOut } from './list-take-outs.js'
import { listTakeable, parseTokenAmount, prepareTakeOut } from './prepare-take-out.js'
import {
  prepareInput,
  signInput,
  takeableAnswer,
  transferAnswer,
  transferInput,
  transfersAnswer,
  transfersInput,
} from './schemas.js'

const ownerErrors: readonly ErrorCode[] = ['unauthorized', 'forbidden', 'account_frozen']

/** `/creators/wallet/*`. app.ts applies the session guard of these paths before routing. */
export function takeOutRoutes(services: Services): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/creators/wallet/transfers',
        summary: 'Prepare a transfer of tokens from the custody wallet to the payout wallet',
        credential: 'session',
        pausedBy: ['maintenance'],
        limit: perAccount('withdraw', 'take-out'),
        input: prepareInput,
        invalid: 'invalid_mint',
        output: transferAnswer,
        errors: [
          'invalid_amount',
          'insufficient_balance',
          'payout_wallet_required',
          'owes_money',
          'transfer_in_progress',
          'transfer_would_fail',
          'step_up_required',
          'invalid_code',
          'account_locked',
          'service_unavailable',
          ...ownerErrors,
        ],
      },
      async ({ mint, amount, ...presented }, ctx) => {
        const owner = signedIn(ctx)
        const wanted = parseTokenAmount(mint, amount)
        const id = await prepareTakeOut(whileOpen(services, owner), owner.account, wanted, presented)
        return { transfer: await readTakeOut(services, owner.account.id, id) }
      },
    ),
    route(
      {
        method: 'post',
        path: '/creators/wallet/transfers/:id/sign',
        summary: 'Complete a transfer that the payout wallet has signed',
        credential: 'session',
        pausedBy: ['maintenance'],
        limit: perAccount('withdraw', 'sign'),
        input: signInput,
        invalid: 'invalid_transaction',
        output: transferAnswer,
        errors: [
          'transfer_not_found',
          'transfer_expired',
          'transfer_in_progress',
          'transfer_would_fail',
          'insufficient_balance',
          'request_in_progress',
          'service_unavailable',
          ...ownerErrors,
        ],
      },
      async ({ id, transaction }, ctx) => {
        const takeOut = await handIn(whileOpen(services, signedIn(ctx)), userOf(ctx), id, transaction)
        return { transfer: presentTakeOut(services, takeOut) }
      },
    ),
    route(
      {
        method: 'get',
        path: '/creators/wallet/transfers',
        list: true,
        summary: 'The transfers to the payout wallet, newest first',
        credential: 'session',
        limit: 'reads',
        input: transfersInput,
        invalid: 'invalid_cursor',
        output: transfersAnswer,
        errors: ['invalid_limit', 'unauthorized'],
      },
      async (input, ctx) => {
        const { transfers, next } = await listTakeOuts(services, userOf(ctx), input)
        return { transfers, nextCursor: cursorOf(next) }
      },
    ),
    route(
      {
        ...ownRead,
        path: '/creators/wallet/tokens',
        summary: 'What can be taken out of the custody wallet, by token',
        output: takeableAnswer,
      },
      async (_, ctx) => ({ tokens: await listTakeable(services.db, userOf(ctx)) }),
    ),
    route(
      {
        method: 'get',
        path: '/creators/wallet/transfers/:id',
        summary: 'One transfer to the payout wallet',
        credential: 'session',
        limit: 'reads',
        input: transferInput,
        invalid: 'transfer_not_found',
        output: transferAnswer,
        errors: ['unauthorized'],
      },
      async ({ id }, ctx) => ({ transfer: await readTakeOut(services, userOf(ctx), id) }),
    ),
  ]
}
