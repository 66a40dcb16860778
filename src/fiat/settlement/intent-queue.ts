import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { TipStatus } from '../../tips/lifecycle.js'
import { nextPoll } from './poll-schedule.js'

/** Intents of one batch; the provider is asked about all of them at once. */
const batch = 16
/** An intent that was not finished within this time is due again: its worker died. Longer than any look. */
const leaseSeconds = 60
const lastErrorLength = 200

/** An intent whose turn it is. */
export interface DueFiatIntent {
  readonly id: string
  readonly reference: string
  /** The fence: whoever claims it next has another number. */
  readonly attempts: number
  readonly sinceCreated: number
  readonly untilExpiry: number
  readonly status: TipStatus
  /** The provider's payments that are booked. */
  readonly booked: readonly string[]
}

/** `now()`, not `clock_timestamp()`, in the condition: only a stable bound can use the index of due rows. */
export function takeDueIntents(db: Knex): Promise<DueFiatIntent[]> {
  return query<DueFiatIntent>(db, {
    name: 'fiat.claim',
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
        array(select provider_transaction from fiat_payments where intent_id = f.id) as booked`,
    values: [batch, leaseSeconds],
  })
}

/** How a look ended. */
export interface PollResult {
  readonly completed: boolean
  readonly error?: string
}

/**
 * Says when an intent is due next. Fenced: one that another batch has claimed since is left to it. A webhook that came
 * during the look makes it due again at once: the look may have been a moment too early. Returns the ms until then.
 */
export async function finishIntent(
  db: Knex,
  intent: DueFiatIntent,
  { completed, error }: PollResult,
  watchDays: number,
): Promise<number> {
  const pause = nextPoll({ ...intent, completed }, watchDays)
  await query(db, {
    name: 'fiat.finish',
    text: /* sql */ `
      update fiat_intents set last_error = $4,
        due_at = case when woken_at > asked_at then greatest(clock_timestamp(), asked_at + interval '1 second')
                      else clock_timestamp() + $3::float8 * interval '1 second' end
      where id = $1 and attempts = $2`,
    values: [intent.id, intent.attempts, pause, error?.slice(0, lastErrorLength) ?? null],
  })
  return pause === null ? Number.POSITIVE_INFINITY : pause * 1000
}

/** Makes the intent of a provider's reference due, at most once a second. Also one that is watched no more. */
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
