import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/** A payment intent that this worker has taken. No other worker takes it before the lease ends. */
export interface DuePaymentIntent {
  readonly id: string
  /** The fence: the result is written only if no other worker has taken the intent since. */
  readonly attempts: number
  readonly ageMs: number
  readonly payoutWallet: string
  readonly sourceWallet: string
  readonly inputMint: string
  readonly inputRaw: string
  /** Null when the transaction cannot carry a reference key. */
  readonly referenceKey: string | null
}

/** When to search for the payment of an intent again. `dueInMs` null: never. */
export interface SearchSchedule {
  readonly id: string
  readonly attempts: number
  readonly dueInMs: number | null
}

/** One search per intent, sent to the RPC endpoint in JSON-RPC batches of a hundred. */
const batchSize = 256
/** Longer than a search takes. The intents of a crashed finder are due again after it. */
const leaseSeconds = 60

/** Takes the intents that have been due longest. `now()` is stable, so the index scan stops at rows not yet due. */
export function takeDuePaymentIntents(db: Knex): Promise<DuePaymentIntent[]> {
  return query<DuePaymentIntent>(db, {
    name: 'intents.take',
    text: /* sql */ `
      update payment_intents set due_at = clock_timestamp() + interval '${leaseSeconds} s', attempts = attempts + 1
      where id = any(array(
        select id from payment_intents where due_at <= now() order by due_at limit ${batchSize} for update skip locked))
      returning id, attempts, (extract(epoch from clock_timestamp() - created_at) * 1000)::float8 as "ageMs",
        payout_wallet as "payoutWallet", source_wallet as "sourceWallet", input_mint as "inputMint",
        input_raw::text as "inputRaw", reference_key as "referenceKey"`,
    values: [],
  })
}

/** Writes when to search again. Skips intents whose search has ended meanwhile (`due_at` is null). */
export async function finishPaymentIntents(db: Knex, schedules: readonly SearchSchedule[]): Promise<void> {
  await query(db, {
    name: 'intents.finish',
    text: /* sql */ `
      with schedule as (
        select * from unnest($1::text[], $2::int[], $3::float8[]) as s(id, attempts, due_in_ms)
      ), held as materialized (
        select i.id, s.due_in_ms from payment_intents i join schedule s on s.id = i.id and s.attempts = i.attempts
        where i.due_at is not null order by i.id for update of i
      )
      update payment_intents i set due_at = clock_timestamp() + h.due_in_ms * interval '1 ms'
      from held h where i.id = h.id`,
    values: [
      schedules.map(({ id }) => id),
      schedules.map(({ attempts }) => attempts),
      schedules.map(({ dueInMs }) => dueInMs),
    ],
  })
}

/** Milliseconds until the next intent is due; infinity when none is. */
export async function msToNextDueIntent(db: Knex): Promise<number> {
  const [row] = await query<{ ms: number | null }>(db, {
    name: 'intents.next-due',
    text: 'select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 as ms from payment_intents where due_at is not null',
    values: [],
  })
  return Math.max(0, row?.ms ?? Number.POSITIVE_INFINITY)
}
