import { booksStatementMs, checkBooks } from '../src/ledger/invariants.js'
import { createDb } from '../src/platform/database/database.js'
import type { Services } from '../src/services.js'

/**
 * Checks the books and calls an operator when an invariant is broken. The first run reads everything, later ones
 * the transfers since the run before the last: a posting in flight then was committed or gone by now. What was
 * checked once stays as it is, since entries are append-only. On a connection of its own, because the first run may
 * take longer than the pool lets a statement take.
 */
export function createBooksWatch({ config, metrics, log }: Pick<Services, 'config' | 'metrics' | 'log'>) {
  let checked = 0n
  let newest = 0n
  return async (): Promise<void> => {
    const db = createDb(config.databaseUrl, 1, booksStatementMs)
    const report = await checkBooks(db, checked).finally(() => db.destroy())
    if (report.holds) {
      checked = newest
      newest = report.newest
      return
    }
    const broken = report.invariants.filter(({ violations }) => violations > 0n)
    metrics.alerts.inc({ kind: 'books_broken' })
    log.error({ broken: broken.map(({ name }) => name) }, 'the books are broken: run check-books')
  }
}
