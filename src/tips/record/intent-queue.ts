import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'

/** An issued intent that is searched for on the chain: nobody else takes it before the lease ends. */
export interface DuePaymentIntent {
  readonly id: string
  /** The fence: what this worker writes counts only while nobody took the intent, or its payment came in, since. */
  readonly attempts: number
  readonly ageMs: number
  readonly payoutWallet: string
  readonly sourceWallet: string
  readonly inputMint: string
  readonly inputRaw: string
  /** Null of a transaction that could not carry one. */
  readonly referenceKey: string | null
}

/** Where the search stands. `dueInMs` null: it is over. */
export interface IntentSchedule {
  readonly id: string
  readonly attempts: number
  readonly dueInMs: number | null
}

/** Intents one batch takes at most; each is one call to the chain, a hundred to a request. */
const batch = 256
/** Longer than any search takes; a crashed finder's intents come back after it. */
const leaseSeconds = 60

/** Takes the longest due intents. `now()` in the condition stops the scan of the index at what is due. */
export function takeDueIntents(db: Knex): Promise<DuePaymentIntent[]> {
  return query<DuePaymentIntent>(db, {
    name: 'intents.take',
    text: /* sql */ `
      update payment_intents set due_at = clock_timestamp() + interval '${leaseSeconds} s', attempts = attempts + 1
      where id = any(array(
        select id from payment_intents where due_at <= now() order by due_at limit ${batch} for update skip locked))
      returning id, attempts, (extract(epoch from clock_timestamp() - created_at) * 1000)::float8 as "ageMs",
        payout_wallet as "payoutWallet", source_wallet as "sourceWallet", input_mint as "inputMint",
        input_raw::text as "inputRaw", reference_key as "referenceKey"`,
    values: [],
  })
}

/** Writes down when to search again. An intent whose search has ended meanwhile is left alone. */
export async function finishIntents(db: Knex, searches: readonly IntentSchedule[]): Promise<void> {
  await query(db, {
    name: 'intents.finish',
    text: /* sql */ `
      with search as (
        select * from unnest($1::text[], $2::int[], $3::float8[]) as s(id, attempts, due_in_ms)
      ), held as materialized (
        select i.id, s.due_in_ms from payment_intents i join search s on s.id = i.id and s.attempts = i.attempts
        where i.due_at is not null order by i.id for update of i
      )
      update payment_intents i set due_at = clock_timestamp() + h.due_in_ms * interval '1 ms'
      from held h where i.id = h.id`,
    values: [
      searches.map(({ id }) => id),
      searches.map(({ attempts }) => attempts),
      searches.map(({ dueInMs }) => dueInMs),
    ],
  })
}
