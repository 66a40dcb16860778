import { readOldestDue, standstillSeconds } from '../src/operators/work-rows.js'
import type { Services } from '../src/services.js'

/** Measures how long the oldest due row of each kind has waited. Raises an alert when no worker takes a row. */
export async function measureWork({
  db,
  metrics,
  log,
}: Pick<Services, 'db' | 'metrics' | 'log'>): Promise<void> {
  for (const { kind, seconds } of await readOldestDue(db)) {
    const waitedSeconds = Math.max(0, seconds ?? 0)
    metrics.oldestDueSeconds.set({ kind }, waitedSeconds)
    if (waitedSeconds < standstillSeconds) continue
    metrics.alerts.inc({ kind: `standstill_${kind}` })
    log.error({ kind, seconds: Math.round(waitedSeconds) }, 'due rows are not being taken: check this worker')
  }
}
