import { byLink, done, ownRead } from '../../accounts/schemas.js'
import { perAccount, publicGuards, signedIn, userOf, whileOpen } from '../../accounts/sessions/auth.js'
import { type Route, route } from '../../http/endpoint.js'
import type { ExchangeRates } from '../../market/exchange-rates.js'
import type { Services } from '../../services.js'
import { findWithdrawal } from '../list-withdrawals.js'
import { confirmInput, ownInput, payeeInput, payeesAnswer, withdrawalAnswer } from '../schemas.js'
import { cancelWithdrawal, confirmByLink, confirmWithdrawal, resendCode } from './confirm.js'
import { listPayees, removePayee } from './payees.js'

/** Confirming and cancelling withdrawals, and the payees. app.ts guards these paths with the session, before routing. */
export function confirmationRoutes(services: Services, rates: ExchangeRates): Route[] {
  return [...withdrawalRoutes(services, rates), ...payeeRoutes(services)]
}

function withdrawalRoutes(services: Services, rates: ExchangeRates): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/payouts/:reference/confirm',
        summary: 'Confirm an own withdrawal, which is then sent',
        credential: 'session',
        pausedBy: ['maintenance'],
        limit: perAccount('login', 'confirm'),
        input: confirmInput,
        invalid: 'invalid_code',
        output: withdrawalAnswer,
        errors: ['unauthorized', 'forbidden', 'account_frozen', 'withdrawal_not_found', 'account_locked'],
      },
      async (input, ctx) => {
        const own = { userId: userOf(ctx), reference: input.reference }
        await confirmWithdrawal(whileOpen(services, signedIn(ctx)), rates, own, input)
        return findWithdrawal(services, own.userId, own.reference)
      },
    ),
    route(
      {
        ...byLink,
        path: '/auth/withdrawals/confirm',
        summary: 'Confirm a withdrawal with the link of its mail, without signing in',
        pausedBy: ['maintenance'],
        errors: ['invalid_link', 'account_frozen', 'forbidden'],
      },
      ({ token }) => confirmByLink(services, rates, token),
      publicGuards(services.config.http.publicUrl),
    ),
    route(
      {
        method: 'post',
        path: '/payouts/:reference/confirm/resend',
        summary: 'Mail a new code to confirm an own withdrawal',
        credential: 'session',
        limit: perAccount('otpStart', 'confirm'),
        input: ownInput,
        invalid: 'invalid_json',
        output: done,
        errors: ['unauthorized', 'forbidden', 'account_frozen', 'withdrawal_not_found', 'too_many_requests'],
      },
      ({ reference }, ctx) =>
        resendCode(whileOpen(services, signedIn(ctx)), { userId: userOf(ctx), reference }),
    ),
    route(
      {
        method: 'post',
        path: '/payouts/:reference/cancel',
        summary: 'Cancel an own withdrawal that was not sent yet',
        credential: 'session',
        pausedBy: ['maintenance'],
        limit: perAccount('withdraw', 'cancel'),
        input: ownInput,
        invalid: 'invalid_json',
        output: withdrawalAnswer,
        errors: ['unauthorized', 'forbidden', 'account_frozen', 'withdrawal_not_found', 'withdrawal_sent'],
      },
      async ({ reference }, ctx) => {
        const own = { userId: userOf(ctx), reference }
        await cancelWithdrawal(whileOpen(services, signedIn(ctx)), own)
        return findWithdrawal(services, own.userId, reference)
      },
    ),
  ]
}

function payeeRoutes(services: Services): Route[] {
  return [
    route(
      {
        ...ownRead,
        path: '/creators/payees',
        summary: 'The bank accounts of the own withdrawals, and which need no confirmation',
        output: payeesAnswer,
      },
      async (_, ctx) => ({ payees: await listPayees(services, userOf(ctx)) }),
    ),
    route(
      {
        method: 'delete',
        path: '/creators/payees/:id',
        summary: 'Remove a bank account: the next withdrawal to it needs a confirmation',
        credential: 'session',
        limit: 'intents',
        input: payeeInput,
        invalid: 'payee_not_found',
        output: done,
        errors: ['unauthorized', 'forbidden', 'account_frozen'],
      },
      ({ id }, ctx) => removePayee(whileOpen(services, signedIn(ctx)), userOf(ctx), id),
    ),
  ]
}
