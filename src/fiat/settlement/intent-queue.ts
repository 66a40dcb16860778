import type { Knex } from 'knex'
import type { Origin } from '../../kernel/trace-context.js'
import { query } from '../../platform/database/database.js'
import { type DueRows, finishRows } from '../../platform/database/due-rows.js'
import type { Services } from '../../services.js'
import type { TipStatus } from '../../tips/lifecycle.js'
import { nextPoll } from './poll-schedule.js'

const maxErrorLength = 200

export interface DueFiatIntent extends Origin {
  readonly id: string
  readonly reference: string
  readonly attempts: number
  readonly sinceCreated: number
  readonly untilExpiry: number
  readonly status: TipStatus
  /** The provider's ids of the payments that are recorded. */
  readonly recorded: readonly string[]
}

/** The intents that are polled at the provider, those of a batch in parallel. */
export const fiatIntentQueue: DueRows = {
  name: 'fiat',
  table: 'fiat_intents',
  id: 'text',
  batchSize: 16,
  leaseSeconds: 60,
  onTake: 'asked_at = clock_timestamp()',
  columns: /* sql */ `
    t.id, t.provider_reference as reference, t.attempts,
    extract(epoch from clock_timestamp() - t.created_at)::float8 as "sinceCreated",
    extract(epoch from t.expires_at - clock_timestamp())::float8 as "untilExpiry",
    (select status from tips where id = t.id) as status, (select request_id from tips where id = t.id) as "requestId",
    (select trace_id from tips where id = t.id) as "traceId",
    array(select provider_transaction from fiat_payments where intent_id = t.id) as recorded`,
  onFinish: {
    columns: { error: 'text' },
    set: 'last_error = s.error',
    // A webhook came while the provider was polled: the answer may have been too early.
    dueAt: (later) => /* sql */ `
      case when t.woken_at > t.asked_at then greatest(clock_timestamp(), t.asked_at + interval '1 second') else ${later} end`,
  },
}

export interface PollResult {
  readonly completed: boolean
  readonly error?: string | undefined
}

/** Sets when an intent is due next. Returns the ms until then. */
export async function finishIntent(
  db: Knex,
  intent: DueFiatIntent,
  { completed, error }: PollResult,
  watchDays: number,
): Promise<number> {
  const pause = nextPoll({ ...intent, completed }, watchDays)
  const { id, attempts } = intent
  const dueInMs = pause === null ? null : pause * 1000
  await finishRows(db, fiatIntentQueue, [{ id, attempts, dueInMs, error: error?.slice(0, maxErrorLength) }])
  return dueInMs ?? Number.POSITIVE_INFINITY
}

/**
 * Makes the intent with this provider reference due, at most once a second. Also an intent that is not polled any more.
 */
export async function makeIntentDue(
  { db, wake }: Pick<Services, 'db' | 'wake'>,
  reference: string,
): Promise<void> {
  const rows = await query(db, {
    name: 'fiat.wake',
    text: /* sql */ `
      update fiat_intents set woken_at = clock_timestamp(),
        due_at = least(due_at, greatest(clock_timestamp(), asked_at + interval '1 second'))
      where provider_reference = $1 returning 1`,
    values: [reference],
  })
  if (rows.length > 0) wake('settlement')
}
