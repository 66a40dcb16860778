import type { Knex } from 'knex'
import { type Origin, originColumns } from '../../kernel/trace-context.js'
import { type DueRows, type Schedule, takeDueRows } from '../../platform/database/due-rows.js'
import type { Claim } from '../record/claim.js'
import type { TimedClaim } from './choose-message.js'

/** A tip that this worker has taken. No other worker takes it before the lease ends. */
export interface DueTip extends Origin {
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

export interface TipSchedule extends Schedule {
  readonly id: string
  readonly outcome: 'tx_failed' | 'not_found' | 'mismatch' | null
  /** The transaction of a confirmed tip was not found. */
  readonly missing?: boolean
}

const claimColumns = (table: 't' | 'c'): string => /* sql */ `
  ${table}.creator_wallet as "creatorWallet", ${table}.sender, trim_scale(${table}.amount)::text as amount, ${table}.token_symbol as "tokenSymbol",
  ${table}.message, ${table}.claimed_intent_id as "intentId", ${table}.request_id is not null as "isReported",
  (extract(epoch from ${table === 't' ? 't.recorded_at' : 'c.created_at'}) * 1000)::float8 as "claimedMs"`

/** All claims about a tip `t`, as columns that `claimsOf` reads. */
export const claimsSql = /* sql */ `${claimColumns('t')},
  (select json_agg(f) from (select c.id as "furtherId", ${claimColumns('c')} from tip_claims c where c.tip_id = t.id order by c.id) f) as further`

export type ClaimsRow = Claim & {
  readonly claimedMs: number
  readonly isReported: boolean
  readonly further: StoredClaim[] | null
}

/** Oldest first. */
export function claimsOf({ further, ...row }: ClaimsRow): StoredClaim[] {
  const { creatorWallet, sender, amount, tokenSymbol, message, intentId, claimedMs, isReported } = row
  return [
    { creatorWallet, sender, amount, tokenSymbol, message, intentId, claimedMs, isReported },
    ...(further ?? []),
  ]
}

/** The tips to check. One check takes a batch: four concurrent calls for statuses. */
export const tipQueue: DueRows = {
  name: 'tips',
  table: 'tips',
  id: 'text',
  batchSize: 1024,
  leaseSeconds: 30,
  columns: /* sql */ `
    t.id, ${originColumns('t')}, t.status, t.attempts, clock_timestamp() as now,
    (extract(epoch from clock_timestamp() - coalesce(t.confirmed_at, t.recorded_at)) * 1000)::float8 as "ageMs",
    t.slot, t.finalized_at is not null as final,
    (extract(epoch from clock_timestamp() - t.missing_since) * 1000)::float8 as "missingMs",
    ${claimsSql}`,
  onFinish: {
    columns: { outcome: 'tip_outcome', missing: 'boolean' },
    set: /* sql */ `
      outcome = s.outcome,
      missing_since = case when s.missing then coalesce(t.missing_since, clock_timestamp()) end,
      found_false_at = case when s.outcome = 'mismatch' then coalesce(t.found_false_at, clock_timestamp()) else t.found_false_at end`,
    also: /* sql */ `disproved as (
      update tip_claims c set found_false_at = clock_timestamp()
      from locked l join schedule s on s.id = l.id and s.attempts = l.attempts where c.tip_id = l.id and s.outcome = 'mismatch' and c.found_false_at is null)`,
  },
}

/** Takes due tips with all their claims, and returns the database's time. */
export async function takeDueTips(db: Knex): Promise<{ now: Date; tips: DueTip[] }> {
  const rows = await takeDueRows<Omit<DueTip, 'claims'> & ClaimsRow & { now: Date }>(db, tipQueue)
  const tips = rows.map(
    ({ id, requestId, traceId, status, attempts, ageMs, slot, final, missingMs, ...row }) => {
      const claims = claimsOf(row)
      return { id, requestId, traceId, status, attempts, ageMs, slot, final, missingMs, claims }
    },
  )
  return { now: rows[0]?.now ?? new Date(), tips }
}
