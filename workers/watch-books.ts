import { booksStatementMs, checkBooks } from '../src/ledger/invariants.js'
import type { Services } from '../src/services.js'

/**
 * Checks the invariants of the ledger and raises an alert when one is broken. The first run reads every transfer. Later
 * runs read those since the run before the last, because a posting that was in flight then has ended by now. Checked
 * entries never change, since the ledger is append-only. The first run may exceed the pool's time limit for a statement.
 */
export function createBooksCheck({ db, metrics, log }: Pick<Services, 'db' | 'metrics' | 'log'>) {
  let checked = 0n
  let newest = 0n
  return async (): Promise<void> => {
    const report = await checkBooks(db, checked, booksStatementMs)
    if (report.holds) {
      checked = newest
      newest = report.newest
      return
    }
    const broken = report.invariants.filter(({ violations }) => violations > 0n)
    metrics.alerts.inc({ kind: 'books_broken' })
    log.error({ broken: broken.map(({ name }) => name) }, 'the ledger is inconsistent: run check-books')
  }
}
