import { oldestDue, standstillSeconds } from '../src/operators/work-rows.js'
import type { Services } from '../src/services.js'

/** Measures the age of the longest due row of each kind, and calls an operator when work stands still. */
export async function measureWork({
  db,
  metrics,
  log,
}: Pick<Services, 'db' | 'metrics' | 'log'>): Promise<void> {
  for (const { kind, seconds } of await oldestDue(db)) {
    const waited = Math.max(0, seconds ?? 0)
    metrics.oldestDueSeconds.set({ kind }, waited)
    if (waited < standstillSeconds) continue
    metrics.alerts.inc({ kind: `standstill_${kind}` })
    log.error({ kind, seconds: Math.round(waited) }, 'work stands still')
  }
}
