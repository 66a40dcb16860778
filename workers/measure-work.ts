import { query } from '../src/platform/db.js'
import type { WorkKind } from '../src/platform/jobs.js'
import type { Services } from '../src/services.js'

/** Work that waits longer than this stands still: every worker looks every two seconds. */
const standstillSeconds = 60

interface Waiting {
  kind: WorkKind
  seconds: number | null
}

/** Measures the age of the longest due row of each kind, and calls an operator when work stands still. */
export async function measureWork({
  db,
  metrics,
  log,
}: Pick<Services, 'db' | 'metrics' | 'log'>): Promise<void> {
  const rows = await query<Waiting>(db, {
    name: 'work.oldest',
    text: /* sql */ `
      select 'verifier' as kind, extract(epoch from clock_timestamp() - min(due_at))::float8 as seconds from tips where due_at is not null
      union all
      select 'finder', extract(epoch from clock_timestamp() - min(due_at))::float8 from payment_intents where due_at is not null
      union all
      select 'settlement', extract(epoch from clock_timestamp() - min(due_at))::float8 from fiat_intents where due_at is not null
      union all
      select case when send_state in ('not_sent', 'resend') then 'payouts' else 'reconciler' end,
        extract(epoch from clock_timestamp() - min(due_at))::float8 from withdrawals where due_at is not null group by 1
      union all
      select 'provisioner', extract(epoch from clock_timestamp() - min(due_at))::float8 from wallets where due_at is not null
      union all
      select 'mailer', extract(epoch from clock_timestamp() - min(due_at))::float8 from emails where due_at is not null`,
    values: [],
  })
  for (const { kind, seconds } of rows) {
    const waited = Math.max(0, seconds ?? 0)
    metrics.oldestDueSeconds.set({ kind }, waited)
    if (waited < standstillSeconds) continue
    metrics.alerts.inc({ kind: `standstill_${kind}` })
    log.error({ kind, seconds: Math.round(waited) }, 'work stands still')
  }
}
