import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { TipStatus } from '../../tips/lifecycle.js'
import { nextPoll } from './poll-schedule.js'

/** Intents of one batch. The provider is polled for all of them in parallel. */
const batchSize = 16
/** An intent that its worker does not finish within this time is due again. Longer than any settlement takes. */
const leaseSeconds = 60
const maxErrorLength = 200

/** An intent that is due to be polled at the provider. */
export interface DueFiatIntent {
  readonly id: string
  readonly reference: string
  /** The fence: the next worker that takes the row has another number. */
  readonly attempts: number
  readonly sinceCreated: number
  readonly untilExpiry: number
  readonly status: TipStatus
  /** The provider's ids of the payments that are recorded. */
  readonly recorded: readonly string[]
  /** Those of which a refund is or may be under way. */
  readonly refunding: readonly string[]
}

/** The condition uses `now()`, not `clock_timestamp()`, because only a stable value can use the index of due rows. */
export function takeDueIntents(db: Knex): Promise<DueFiatIntent[]> {
  return query<DueFiatIntent>(db, {
    name: 'fiat.take',
    text: /* sql */ `
      with due as (
        select id from fiat_intents where due_at <= now() order by due_at limit $1 for update skip locked)
      update fiat_intents f
         set due_at = clock_timestamp() + $2 * interval '1 second', attempts = attempts + 1, asked_at = clock_timestamp()
        from due where f.id = due.id
      returning f.id, f.provider_reference as reference, f.attempts,
        extract(epoch from clock_timestamp() - f.created_at)::float8 as "sinceCreated",
        extract(epoch from f.expires_at - clock_timestamp())::float8 as "untilExpiry",
        (select status from tips where id = f.id) as status,
        array(select provider_transaction from fiat_payments where intent_id = f.id) as recorded,
        array(select provider_transaction from fiat_payments join suspense_items s using (provider_transaction)
          where intent_id = f.id and s.state = 'refunding') as refunding`,
    values: [batchSize, leaseSeconds],
  })
}

/** The result of polling and settling an intent. */
export interface PollResult {
  readonly completed: boolean
  readonly error?: string | undefined
  /** Seconds until the next look at its refunds. Undefined: none is under way. */
  readonly refundPause: number | undefined
}

/**
 * Sets when an intent is due next. Changes nothing when another worker has taken the row since. If a webhook came while the
 * provider was polled, the intent is due again immediately, because the answer may have been too early. Returns the ms until
 * then.
 */
export async function finishIntent(
  db: Knex,
  intent: DueFiatIntent,
  { completed, error, refundPause }: PollResult,
  watchDays: number,
): Promise<number> {
  const pause = earlier(nextPoll({ ...intent, completed }, watchDays), refundPause)
  await query(db, {
    name: 'fiat.finish',
    text: /* sql */ `
      update fiat_intents set last_error = $4,
        due_at = case when woken_at > asked_at then greatest(clock_timestamp(), asked_at + interval '1 second')
                      else clock_timestamp() + $3::float8 * interval '1 second' end
      where id = $1 and attempts = $2`,
    values: [intent.id, intent.attempts, pause, error?.slice(0, maxErrorLength) ?? null],
  })
  return pause === null ? Number.POSITIVE_INFINITY : pause * 1000
}

function earlier(poll: number | null, refundPause: number | undefined): number | null {
  if (refundPause === undefined) return poll
  return poll === null ? refundPause : Math.min(poll, refundPause)
}

/** Makes the intent with this provider reference due, at most once a second. Also an intent that is not polled any more. */
export async function makeIntentDue(
  { db, wake }: Pick<Services, 'db' | 'wake'>,
  reference: string,
): Promise<void> {
  const rows = await query(db, {
    name: 'fiat.wake',
    text: /* sql */ `
      update fiat_intents set woken_at = clock_timestamp(),
        due_at = least(due_at, greatest(clock_timestamp(), asked_at + interval '1 second'))
      where provider_reference = $1 returning id`,
    values: [reference],
  })
  if (rows.length > 0) wake('settlement')
}
