import { displayText } from '../src/kernel/money.js'
import { type BooksReport, type BooksSum, checkBooks, sumBooks } from '../src/ledger/invariants.js'
import { loadDatabaseUrl } from '../src/platform/config.js'
import { createDb } from '../src/platform/db.js'
import { runOperatorsScript, UsageError } from './ops/operators-script.js'

const decimals: Readonly<Record<string, number>> = { USDC: 6, NGN: 2 }

/** Checks every invariant of the ledger over all entries and prints what each kind of account holds. */
await runOperatorsScript({
  name: 'check-books [--json]',
  help: `Reads the whole ledger in one snapshot (postings go on meanwhile) and counts what breaks an invariant.
Exit code 0 when all of them hold, 1 when one is broken or the books could not be read.
`,
  options: {},
  run: async ({ positionals }) => {
    if (positionals.length > 0) throw new UsageError(`check-books takes no "${positionals.join(' ')}"`)
    const db = createDb(loadDatabaseUrl(), 2)
    try {
      const [report, sums] = await Promise.all([checkBooks(db), sumBooks(db)])
      const { holds, invariants } = report
      return { ok: holds, text: textOf(report, sums), json: { holds, invariants, sums } }
    } finally {
      await db.destroy()
    }
  },
})

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
  return `${currency.padEnd(5)}${kind.padEnd(18)}${amount.padStart(24)}  ${entries} entries in ${accounts} accounts`
}
