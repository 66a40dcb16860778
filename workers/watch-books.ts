import { checkBooks } from '../src/ledger/invariants.js'
import type { Services } from '../src/services.js'

/**
 * Checks the books and calls an operator when an invariant is broken. The first run reads everything, later ones
 * the transfers since the run before the last: a posting in flight then was committed or gone by now. What was
 * checked once stays as it is, since entries are append-only.
 */
export function createBooksWatch({ db, metrics, log }: Pick<Services, 'db' | 'metrics' | 'log'>) {
  let checked = 0n
  let newest = 0n
  return async (): Promise<void> => {
    const report = await checkBooks(db, checked)
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
