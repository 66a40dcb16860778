import { ownRead } from '../accounts/schemas.js'
import { signedIn } from '../accounts/sessions/auth.js'
import { answerCsv } from '../http/csv.js'
import { answered, type Route, route } from '../http/endpoint.js'
import { cursorOf } from '../http/paging.js'
import type { Services } from '../services.js'
import { readBalance } from './accounts.js'
import { presentBalance, presentTransaction, transactionsCsv } from './present.js'
import { readClaims } from './receivables/read-receivables.js'
import { balanceAnswer, statementAnswer, statementInput } from './schemas.js'
import { readStatement } from './statement.js'

/** A creator's balance and statement. app.ts guards these paths with the session. */
export function ledgerRoutes(services: Pick<Services, 'db' | 'reads'>): Route[] {
  const { db, reads } = services
  return [
    route(
      {
        ...ownRead,
        path: '/creators/balance',
        summary: 'The own USDC: available, pending and held; what is owed and disputed',
        output: balanceAnswer,
      },
      async (_, ctx) => {
        const { id } = signedIn(ctx).account
        return { balance: presentBalance(await readBalance(db, id, 'USDC'), await readClaims(db, id)) }
      },
    ),
    route(
      {
        method: 'get',
        path: '/creators/transactions',
        list: true,
        summary: 'The own ledger lines, newest first',
        credential: 'session',
        limit: 'reads',
        input: statementInput,
        invalid: 'invalid_cursor',
        output: statementAnswer,
        errors: ['unauthorized', 'invalid_limit', 'invalid_format'],
        csv: true,
      },
      async ({ cursor, limit, format }, ctx) => {
        const before = cursor === undefined ? undefined : BigInt(cursor)
        const { lines, next } = await readStatement(reads, signedIn(ctx).account.id, 'USDC', {
          before,
          limit,
        })
        const transactions = lines.map(presentTransaction)
        const nextCursor = cursorOf(next?.toString())
        if (format === 'json') return { transactions, nextCursor }
        answerCsv(ctx, 'transactions.csv', transactionsCsv(transactions), nextCursor)
        return answered
      },
    ),
  ]
}
