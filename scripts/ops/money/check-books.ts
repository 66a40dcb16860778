import { displayText } from '../../../src/kernel/money.js'
import {
  type BooksReport,
  type BooksSum,
  booksStatementMs,
  checkBooks,
  sumBooks,
} from '../../../src/ledger/invariants.js'
import { defineCommand } from '../support/command.js'
import { withDatabase } from '../support/services.js'

/** Checks every invariant over the whole ledger, and prints the sum of each kind of account. Changes nothing. */
const usage = `npm run ops -- check-books [--json]

Reads the whole ledger, counts the violations of each invariant, and prints the sum of each kind of account. It changes
nothing and blocks nothing: the service keeps working meanwhile. Exit code 4: an invariant is broken.`

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
  options: {},
  run: () =>
    withDatabase(async (db) => {
      const [report, sums] = await Promise.all([
        checkBooks(db, 0n, booksStatementMs),
        sumBooks(db, booksStatementMs),
      ])
      return { ok: report.holds, text: textOf(report, sums), json: jsonOf(report, sums) }
    }),
})
