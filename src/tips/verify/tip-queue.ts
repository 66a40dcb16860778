import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { Claim } from '../record/claim.js'

/** A tip the verifier has taken: nobody else takes it before the lease ends. */
export interface DueTip {
  readonly id: string
  readonly status: 'pending' | 'confirmed' | 'failed'
  /** The fence: what this worker writes counts only while nobody took the tip, or claimed it anew, since. */
  readonly attempts: number
  /** Since it was recorded; of a confirmed tip since its confirmation. */
  readonly ageMs: number
  /** Where it landed, once confirmed. */
  readonly slot: bigint | null
  readonly final: boolean
  /** For how long a confirmed transaction has not been found; null while it is. */
  readonly missingMs: number | null
  /** What was claimed, oldest first. */
  readonly claims: readonly StoredClaim[]
}

/** A claim and its row in tip_claims; the first claim lives in the tip itself. */
export interface StoredClaim extends Claim {
  readonly furtherId?: number
}

/** Where the work on a tip stands after a look. `dueInMs` null: nothing is left to do. */
export interface TipSchedule {
  readonly id: string
  readonly attempts: number
  readonly dueInMs: number | null
  readonly outcome: 'tx_failed' | 'not_found' | 'mismatch' | null
  /** A confirmed transaction was not found. */
  readonly missing?: boolean
}

/** Tips one look takes at most: four questions for statuses, asked side by side. */
export const batchSize = 1024
/** Longer than any look takes; a crashed verifier's tips come back after it. */
const leaseSeconds = 30

const claimColumns = (table: string): string => /* sql */ `
  ${table}.creator_wallet as "creatorWallet", ${table}.sender, trim_scale(${table}.amount)::text as amount, ${table}.token_symbol as "tokenSymbol",
  ${table}.message, ${table}.claimed_intent_id as "intentId"`

/**
 * Takes the longest due tips, with everything that was claimed about them, and the database's time. `now()`, not
 * `clock_timestamp()`, in the condition: only a stable bound stops the scan of the index at what is due.
 */
export async function takeDueTips(db: Knex): Promise<{ now: Date; tips: DueTip[] }> {
  const rows = await query<Omit<DueTip, 'claims'> & Claim & { now: Date; further: StoredClaim[] | null }>(
    db,
    {
      name: 'tips.take',
      text: /* sql */ `
      with taken as (
        update tips set due_at = clock_timestamp() + interval '${leaseSeconds} s', attempts = attempts + 1
        where id = any(array(select id from tips where due_at <= now() order by due_at limit ${batchSize} for update skip locked))
        returning *)
      select t.id, t.status, t.attempts, clock_timestamp() as now,
             (extract(epoch from clock_timestamp() - coalesce(t.confirmed_at, t.recorded_at)) * 1000)::float8 as "ageMs",
             t.slot, t.finalized_at is not null as final,
             (extract(epoch from clock_timestamp() - t.missing_since) * 1000)::float8 as "missingMs",
             ${claimColumns('t')},
             (select json_agg(f) from (select c.id as "furtherId", ${claimColumns('c')} from tip_claims c where c.tip_id = t.id order by c.id) f) as further
      from taken t`,
      values: [],
    },
  )
  const tips = rows.map(({ id, status, attempts, ageMs, slot, final, missingMs, further, ...row }) => {
    const { creatorWallet, sender, amount, tokenSymbol, message, intentId } = row
    const first = { creatorWallet, sender, amount, tokenSymbol, message, intentId }
    const claims = [first, ...(further ?? [])]
    return { id, status, attempts, ageMs, slot, final, missingMs, claims }
  })
  return { now: rows[0]?.now ?? new Date(), tips }
}

/** Milliseconds until the next row of the table is due, whoever put it off. */
export async function nextDueIn(db: Knex, table: 'tips' | 'payment_intents'): Promise<number> {
  const [row] = await query<{ ms: number | null }>(db, {
    name: `${table}.next-due`,
    text: `select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 as ms from ${table} where due_at is not null`,
    values: [],
  })
  return Math.max(0, row?.ms ?? Number.POSITIVE_INFINITY)
}

/** Writes down what the looks found, in the order of ids (the lock order of all who write tips). */
export async function finishTips(db: Knex, looks: readonly TipSchedule[]): Promise<void> {
  if (looks.length === 0) return
  await query(db, {
    name: 'tips.finish',
    text: /* sql */ `
      with look as (
        select * from unnest($1::text[], $2::int[], $3::float8[], $4::tip_outcome[], $5::boolean[])
          as l(id, attempts, due_in_ms, outcome, missing)
      ), held as materialized (
        select t.id from tips t join look l on l.id = t.id and l.attempts = t.attempts order by t.id for update of t
      ), disproved as (
        update tip_claims c set found_false_at = clock_timestamp()
        from held h join look l on l.id = h.id where c.tip_id = h.id and l.outcome = 'mismatch' and c.found_false_at is null
      )
      update tips t set
        due_at = clock_timestamp() + l.due_in_ms * interval '1 ms', outcome = l.outcome,
        missing_since = case when l.missing then coalesce(t.missing_since, clock_timestamp()) end,
        found_false_at = case when l.outcome = 'mismatch' then coalesce(t.found_false_at, clock_timestamp()) else t.found_false_at end
      from held h join look l on l.id = h.id where t.id = h.id`,
    values: [
      looks.map(({ id }) => id),
      looks.map(({ attempts }) => attempts),
      looks.map(({ dueInMs }) => dueInMs),
      looks.map(({ outcome }) => outcome),
      looks.map(({ missing = false }) => missing),
    ],
  })
}
