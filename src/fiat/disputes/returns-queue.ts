import { sqlList } from '../../kernel/state-machine.js'
import { query } from '../../platform/database/database.js'
import type { DueRows } from '../../platform/database/due-rows.js'
import type { Services } from '../../services.js'
import { undecidedStates } from '../lifecycle.js'
import type { RefundReader } from '../provider-refunds.js'

export type ReturnNeeds = Pick<
  Services,
  'db' | 'transact' | 'collections' | 'disputes' | 'config' | 'metrics' | 'log'
> & { readonly refunds: RefundReader }

export interface DueLook {
  readonly id: string
  readonly attempts: number
  readonly askedAt: Date
  /**
   * From when on disputes are listed: since the last look, and all that have not ended or of which there is news. At most a month back
   * for what could not be read.
   */
  readonly disputesFrom: Date
}

/** One row: the lists of the provider are read by one worker at a time. */
export const returnsQueue: DueRows = {
  name: 'returns',
  table: 'dispute_polls',
  id: 'text',
  batchSize: 1,
  leaseSeconds: 120,
  onTake: 'asked_at = clock_timestamp()',
  columns: /* sql */ `
    t.id, t.attempts, t.asked_at as "askedAt",
    least(greatest(t.listed_at - interval '1 day', clock_timestamp() - interval '31 days'), clock_timestamp() - interval '2 days',
      (select min(opened_at) from disputes where state in (${sqlList(undecidedStates)}) or recheck or not settled) - interval '1 hour')
      as "disputesFrom"`,
  onFinish: {
    columns: { error: 'text', listed_at: 'timestamptz' },
    set: 'last_error = left(s.error, 200), listed_at = coalesce(s.listed_at, t.listed_at)',
    // A webhook came while the provider was asked: the answer may have been too early.
    dueAt: (later) => /* sql */ `
      case when t.woken_at > t.asked_at then greatest(clock_timestamp(), t.asked_at + interval '1 second') else ${later} end`,
  },
}

/**
 * A webhook names the charge with this reference. If it is paid or disputed already, something may have come back of it: the
 * worker looks, at most once a second.
 */
export async function makeReturnsDue(
  { db, wake }: Pick<Services, 'db' | 'wake'>,
  reference: string,
): Promise<void> {
  const rows = await query(db, {
    name: 'returns.wake',
    text: /* sql */ `
      with known as (
        update disputes set recheck = true where reference = $1 returning 1)
      update dispute_polls set woken_at = clock_timestamp(),
        due_at = least(due_at, greatest(clock_timestamp(), asked_at + interval '1 second'))
      where exists (select from known) or exists (
        select from fiat_intents f join fiat_payments p on p.intent_id = f.id where f.provider_reference = $1)
      returning 1`,
    values: [reference],
  })
  if (rows.length > 0) wake('settlement')
}
