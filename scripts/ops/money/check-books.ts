import { displayText } from '../../../src/kernel/money.js'
import {
  type BooksReport,
  type BooksSum,
  booksStatementMs,
  checkBooks,
  findTransferBefore,
  sumBooks,
} from '../../../src/ledger/invariants.js'
import { defineCommand, defineOptions } from '../support/command.js'
import { UsageError } from '../support/order.js'
import { withDatabase } from '../support/services.js'
import { createProgress } from '../support/text.js'

const options = defineOptions(
  {},
  {
    '--since <day>': 'only the transfers since the beginning of this day in UTC, such as 2026-11-01',
  },
)

/** Checks every invariant over the whole ledger, and prints the sum of each kind of account. Changes nothing. */
const usage = `npm run ops -- check-books [--since <day>] [--json]

Reads the whole ledger, counts the violations of each invariant, and prints the sum of each kind of account. It changes
nothing and blocks nothing: the service keeps working meanwhile. Exit code 4: an invariant is broken.

A whole ledger of years takes minutes. With --since it takes about as long as its transfers do, and the sums are of what those
have moved. The sums over all entries are left out then, and what creators owe.`

function dayOf(text: string): Date {
  const day = new Date(`${text}T00:00:00.000Z`)
  if (
    /^\d{4}-\d\d-\d\d$/.test(text) &&
    !Number.isNaN(day.getTime()) &&
    day.toISOString().startsWith(text) &&
    day <= new Date()
  )
    return day
  throw new UsageError('--since needs a day that has begun, such as 2026-11-01')
}

const decimals: Readonly<Record<string, number>> = { USDC: 6, NGN: 2 }

function jsonOf({ holds, invariants }: BooksReport, sums: readonly BooksSum[]) {
  return {
    holds,
    invariants: invariants.map(({ name, violations }) => ({ name, violations: Number(violations) })),
    sums: sums.map((sum) => ({ ...sum, accounts: Number(sum.accounts), entries: Number(sum.entries) })),
  }
}

function textOf({ holds, invariants }: BooksReport, sums: readonly BooksSum[]): string {
  return [
    ...invariants.map(({ name, violations }) =>
      violations === 0n ? `ok      ${name}` : `BROKEN  ${name}: ${violations}`,
    ),
    '',
    ...sums.map(lineOf),
    '',
    holds ? 'the books hold' : 'THE BOOKS ARE BROKEN',
  ].join('\n')
}

function lineOf({ currency, kind, accounts, entries, units }: BooksSum): string {
  const amount = displayText(BigInt(units), decimals[currency] ?? 0)
  return `${currency.padEnd(5)}${kind.padEnd(24)}${amount.padStart(24)}  ${entries} entries in ${accounts} accounts`
}

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'base units',
  options,
  run: ({ since }) =>
    withDatabase(async (db) => {
      const after = since === undefined ? 0n : await findTransferBefore(db, dayOf(since))
      const say = createProgress()
      const [report, sums] = await Promise.all([
        checkBooks(db, after, booksStatementMs, (name) => say(`checks: ${name}`)),
        sumBooks(db, after, booksStatementMs),
      ])
      return { ok: report.holds, text: textOf(report, sums), json: jsonOf(report, sums) }
    }),
})
