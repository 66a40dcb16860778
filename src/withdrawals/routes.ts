import type { Context, Middleware } from 'koa'
import { ownRead } from '../accounts/schemas.js'
import { perAccount, signedIn, userOf } from '../accounts/sessions/auth.js'
import { answerCsv } from '../http/csv.js'
import { answered, type Route, route } from '../http/endpoint.js'
import { idempotent } from '../http/idempotency.js'
import { cursorOf } from '../http/paging.js'
import { nameRow, originOf } from '../http/request-id.js'
import { readCaller } from '../http/security/caller.js'
import { DomainError } from '../kernel/errors.js'
import { hashSecret } from '../kernel/ids.js'
import { ProviderError } from '../kernel/provider-error.js'
import type { ExchangeRates } from '../market/exchange-rates.js'
import { createKeyedMutex } from '../platform/keyed-mutex.js'
import type { Services } from '../services.js'
import { listBankAccounts } from './bank-account.js'
import { confirmationRoutes } from './confirmation/routes.js'
import { listWithdrawals, payoutsCsv } from './list-withdrawals.js'
import { assertListed, BankList, matchesSearch, nicknamesOf } from './request/banks.js'
import { createWaitForOutcome, findStoredWithdrawal, withdraw } from './request/withdraw.js'
import {
  bankAccountsAnswer,
  banksAnswer,
  banksInput,
  historyAnswer,
  historyInput,
  resolveAnswer,
  resolveInput,
  type WithdrawInput,
  withdrawAnswer,
  withdrawInput,
} from './schemas.js'
import { yearlyStatementRoute } from './yearly-statement.js'

/** Withdrawals and bank accounts. app.ts guards these paths with the session, before routing. */
export function payoutRoutes(services: Services, rates: ExchangeRates): Route[] {
  const banks = new BankList(services)
  return [
    withdrawRoute(services, rates, banks),
    historyRoute(services),
    yearlyStatementRoute(services),
    ...confirmationRoutes(services, rates),
    ...bankRoutes(services, banks),
  ]
}

function withdrawRoute(services: Services, rates: ExchangeRates, banks: BankList): Route {
  const tools = { rates, banks, perUser: createKeyedMutex(), waitForOutcome: createWaitForOutcome(services) }
  return route(
    {
      method: 'post',
      path: '/payouts/withdraw',
      summary: 'Withdraw USDC as NGN to a Nigerian bank account',
      credential: 'session',
      pausedBy: ['maintenance'],
      limit: perAccount('withdraw'),
      idempotent: true,
      input: withdrawInput,
      invalid: 'invalid_amount',
      output: withdrawAnswer,
      errors: [
        'unauthorized',
        'account_frozen',
        'bank_details_required',
        'insufficient_balance',
        'rate_unavailable',
        'payout_refused',
      ],
    },
    idempotent(
      {
        db: services.db,
        scope: (ctx) => `/payouts/withdraw ${userOf(ctx)}`,
        stillServes: async () => true,
        findStoredAnswer: (keyedRequest) => findStoredWithdrawal(services, tools, keyedRequest),
      },
      async (input: WithdrawInput, ctx, keyedRequest) => {
        const requester = { ...requesterOf(services, ctx), keyedRequest }
        const answer = await withdraw(services, tools, input, requester)
        nameRow(ctx, { reference: answer.reference })
        return answer
      },
    ),
  )
}

function requesterOf({ config }: Pick<Services, 'config'>, ctx: Context) {
  const { network, deviceToken } = readCaller(ctx, config.http.publicUrl)
  const { account, sessionHash, sessionAge } = signedIn(ctx)
  return {
    userId: account.id,
    sessionHash,
    sessionAge,
    network,
    deviceHash: hashSecret(deviceToken),
    origin: originOf(ctx),
  }
}

function historyRoute(services: Services): Route {
  return route(
    {
      method: 'get',
      path: '/payouts/history',
      list: true,
      summary: 'The own withdrawals, newest first',
      credential: 'session',
      limit: 'reads',
      input: historyInput,
      invalid: 'invalid_cursor',
      output: historyAnswer,
      errors: ['unauthorized', 'invalid_reference', 'invalid_status', 'invalid_limit', 'invalid_format'],
      csv: true,
    },
    async (input, ctx) => {
      const { payouts, next } = await listWithdrawals(services, userOf(ctx), input)
      const nextCursor = cursorOf(next)
      if (input.format === 'json') return { payouts, nextCursor }
      answerCsv(ctx, 'payouts.csv', payoutsCsv(payouts), nextCursor)
      return answered
    },
  )
}

function bankRoutes(services: Services, bankList: BankList): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/creators/banks',
        list: true,
        summary: 'The banks that can be withdrawn to',
        credential: 'session',
        limit: 'reads',
        input: banksInput,
        invalid: 'invalid_q',
        output: banksAnswer,
        errors: ['unauthorized', 'service_unavailable'],
      },
      async ({ q = '' }) => ({
        banks: (await bankList.banks())
          .filter((bank) => matchesSearch(bank, q))
          .map((bank) => ({ ...bank, nicknames: [...nicknamesOf(bank.code)] })),
      }),
    ),
    route(
      {
        ...ownRead,
        path: '/creators/bank-accounts',
        summary: 'The bank accounts of the own withdrawals, the last used first',
        output: bankAccountsAnswer,
      },
      async (_, ctx) => ({ bankAccounts: await listBankAccounts(services, userOf(ctx)) }),
    ),
    route(
      {
        method: 'post',
        path: '/creators/bank-accounts/resolve',
        summary: 'The name of the holder of a bank account',
        credential: 'session',
        // Bank names are personal data: under `recommended` an account without a verified e-mail cannot collect them.
        limit: { name: 'resolve', address: 'resolveAddress', key: (_, ctx) => userOf(ctx) },
        input: resolveInput,
        invalid: 'bank_details_required',
        output: resolveAnswer,
        errors: [
          'unauthorized',
          'account_frozen',
          'email_not_verified',
          'bank_account_not_found',
          'service_unavailable',
        ],
      },
      async (account) => {
        await assertListed(bankList, account.bankCode)
        return { accountName: await services.payouts.resolveAccountName(account).catch(notFound) }
      },
      services.config.guards === 'contract' ? [] : [requireVerifiedEmail],
    ),
  ]
}

const requireVerifiedEmail: Middleware = (ctx, next) => {
  if (signedIn(ctx).account.emailVerifiedAt === null) throw new DomainError('email_not_verified')
  return next()
}

function notFound(error: unknown): never {
  if (error instanceof ProviderError && error.kind === 'rejected')
    throw new DomainError('bank_account_not_found')
  throw error
}
