import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { Claim } from '../record/claim.js'
import type { TimedClaim } from './choose-message.js'

/** A tip that this worker has taken. No other worker takes it before the lease ends. */
export interface DueTip {
  readonly id: string
  readonly status: 'pending' | 'confirmed' | 'failed'
  /** The fence: the result is written only if no worker has taken the tip, and no claim has come in, since. */
  readonly attempts: number
  /** Age since it was recorded; for a confirmed tip, since its confirmation. */
  readonly ageMs: number
  /** The slot of the transaction, once confirmed. */
  readonly slot: bigint | null
  readonly final: boolean
  /** How long the transaction of a confirmed tip has been missing; null while it is found. */
  readonly missingMs: number | null
  /** Oldest first. */
  readonly claims: readonly StoredClaim[]
}

/** A claim as stored: the first in the tip itself, further ones in `tip_claims`. */
export interface StoredClaim extends TimedClaim {
  /** The row in `tip_claims`. */
  readonly furtherId?: number
}

/** When a tip is due again after a check. `dueInMs` null: never. */
export interface TipSchedule {
  readonly id: string
  readonly attempts: number
  readonly dueInMs: number | null
  readonly outcome: 'tx_failed' | 'not_found' | 'mismatch' | null
  /** The transaction of a confirmed tip was not found. */
  readonly missing?: boolean
}

/** Tips one check takes: four concurrent calls for statuses. */
export const batchSize = 1024
/** Longer than a check takes. The tips of a crashed verifier are due again after it. */
const leaseSeconds = 30

const claimColumns = (table: 't' | 'c'): string => /* sql */ `
  ${table}.creator_wallet as "creatorWallet", ${table}.sender, trim_scale(${table}.amount)::text as amount, ${table}.token_symbol as "tokenSymbol",
  ${table}.message, ${table}.claimed_intent_id as "intentId",
  (extract(epoch from ${table === 't' ? 't.recorded_at' : 'c.created_at'}) * 1000)::float8 as "claimedMs"`

/** All claims about a tip `t`, as columns that `claimsOf` reads. */
export const claimsSql = /* sql */ `${claimColumns('t')},
  (select json_agg(f) from (select c.id as "furtherId", ${claimColumns('c')} from tip_claims c where c.tip_id = t.id order by c.id) f) as further`

export type ClaimsRow = Claim & { readonly claimedMs: number; readonly further: StoredClaim[] | null }

/** Oldest first. */
export function claimsOf({ further, ...row }: ClaimsRow): StoredClaim[] {
  const { creatorWallet, sender, amount, tokenSymbol, message, intentId, claimedMs } = row
  return [{ creatorWallet, sender, amount, tokenSymbol, message, intentId, claimedMs }, ...(further ?? [])]
}

/**
 * Takes the tips that have been due longest, with all their claims, and returns the database's time. The condition uses
 * `now()`, not `clock_timestamp()`: `now()` is stable, so the index scan stops at rows not yet due.
 */
export async function takeDueTips(db: Knex): Promise<{ now: Date; tips: DueTip[] }> {
  const rows = await query<Omit<DueTip, 'claims'> & ClaimsRow & { now: Date }>(db, {
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
             ${claimsSql}
      from taken t`,
    values: [],
  })
  const tips = rows.map(({ id, status, attempts, ageMs, slot, final, missingMs, ...row }) => {
    return { id, status, attempts, ageMs, slot, final, missingMs, claims: claimsOf(row) }
  })
  return { now: rows[0]?.now ?? new Date(), tips }
}

/** Milliseconds until the next tip is due; infinity when none is. */
export async function msToNextDueTip(db: Knex): Promise<number> {
  const [row] = await query<{ ms: number | null }>(db, {
    name: 'tips.next-due',
    text: 'select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 as ms from tips where due_at is not null',
    values: [],
  })
  return Math.max(0, row?.ms ?? Number.POSITIVE_INFINITY)
}

/** Writes when the tips are due again. Locks them in the order of their ids, as every writer of tips does. */
export async function finishTips(db: Knex, schedules: readonly TipSchedule[]): Promise<void> {
  if (schedules.length === 0) return
  await query(db, {
    name: 'tips.finish',
    text: /* sql */ `
      with schedule as (
        select * from unnest($1::text[], $2::int[], $3::float8[], $4::tip_outcome[], $5::boolean[])
          as s(id, attempts, due_in_ms, outcome, missing)
      ), locked as materialized (
        select t.id from tips t join schedule s on s.id = t.id and s.attempts = t.attempts order by t.id for update of t
      ), disproved as (
        update tip_claims c set found_false_at = clock_timestamp()
        from locked l join schedule s on s.id = l.id where c.tip_id = l.id and s.outcome = 'mismatch' and c.found_false_at is null
      )
      update tips t set
        due_at = clock_timestamp() + s.due_in_ms * interval '1 ms', outcome = s.outcome,
        missing_since = case when s.missing then coalesce(t.missing_since, clock_timestamp()) end,
        found_false_at = case when s.outcome = 'mismatch' then coalesce(t.found_false_at, clock_timestamp()) else t.found_false_at end
      from locked l join schedule s on s.id = l.id where t.id = l.id`,
    values: [
      schedules.map(({ id }) => id),
      schedules.map(({ attempts }) => attempts),
      schedules.map(({ dueInMs }) => dueInMs),
      schedules.map(({ outcome }) => outcome),
      schedules.map(({ missing = false }) => missing),
    ],
  })
}
