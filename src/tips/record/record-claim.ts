import { isDatabaseUnavailable, type Queryable } from '../../platform/database/database.js'
import { groupCommit } from '../../platform/database/group-commit.js'
import type { Services } from '../../services.js'
import type { TipStatus } from '../lifecycle.js'
import { type SignedClaim, signedClaimColumns } from './claim.js'
import { recordFurther } from './record-further-claims.js'

/** The answer to a recorded claim. `created` is false for a signature that was known. */
export interface Recorded {
  readonly created: boolean
  readonly status: TipStatus
  /** The account that owns the claimed creator wallet; known for a created tip only. */
  readonly recipientId: string | null
}

/**
 * A row per new signature, written in the order of the signatures, so that two batches never wait for each other
 * in a circle; and what is known of the others. Nothing is joined with what was made: two lists meet in a nested
 * loop, which costs more than the caller's map.
 */
const recordSql = (input: string): string => /* sql */ `
with input as (
  ${input}
), made as (
  insert into tips (id, kind, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id, claim_hash)
  select id, 'chain', creator_wallet, sender, amount, token_symbol, message, intent_id, hash from input order by id
  on conflict (id) do nothing
  returning id, creator_wallet
)
select m.id, true as created, 'pending'::tip_status as status, w.user_id as "recipientId", false as differs
from made m left join wallets w on w.public_key = m.creator_wallet
union all
select t.id, false, t.status, null, t.claim_hash is distinct from i.hash
from input i join tips t on t.id = i.id`

const recordMany = {
  name: 'tips.record',
  text: recordSql(`select * from unnest(
    $1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[], $6::text[], $7::text[], $8::bytea[])
    as i (id, creator_wallet, sender, amount, token_symbol, message, intent_id, hash)`),
}

/** Taking arrays apart costs a lone claim an eighth of its statement. */
const recordOne = {
  name: 'tips.record-one',
  text: recordSql(`select $1::text as id, $2::text as creator_wallet, $3::text as sender, $4::numeric as amount,
    $5::text as token_symbol, $6::text as message, $7::text as intent_id, $8::bytea as hash`),
}

interface RecordedRow extends Recorded {
  readonly id: string
  /** The known tip was claimed differently. */
  readonly differs: boolean
}

/** Records claims in groups: many callers share one statement, each waits for its own durable commit. */
export function createRecorder({
  recordPool,
}: Pick<Services, 'recordPool'>): (claim: SignedClaim) => Promise<Recorded> {
  return groupCommit((claims) => recordClaims(recordPool, claims), { failsAll: isDatabaseUnavailable })
}

/**
 * The first claim of each signature is recorded, or compared with the one that is. What is left waits for a second
 * statement: a claim that differs, a signature that stands in the batch again, and one that another batch was
 * recording at the same time. Their tips are committed by then.
 */
async function recordClaims(pool: Queryable, claims: readonly SignedClaim[]): Promise<Recorded[]> {
  const first = new Map<string, SignedClaim>()
  for (const claim of claims) if (!first.has(claim.signature)) first.set(claim.signature, claim)
  const rows = await recordFirst(pool, [...first.values()])
  const known = new Map(rows.filter((row) => !row.differs).map((row) => [row.id, row]))
  const later = claims.filter((claim) => first.get(claim.signature) !== claim || !known.has(claim.signature))
  const statuses = later.length === 0 ? [] : await recordFurther(pool, later)
  const answers = new Map(
    later.map((claim, index) => [claim, { created: false, status: statuses[index], recipientId: null }]),
  )
  return claims.map((claim) => (answers.get(claim) ?? known.get(claim.signature)) as Recorded)
}

async function recordFirst(pool: Queryable, claims: readonly SignedClaim[]): Promise<RecordedRow[]> {
  const columns = signedClaimColumns(claims)
  const { rows } =
    claims.length === 1
      ? await pool.query({ ...recordOne, values: columns.flat() })
      : await pool.query({ ...recordMany, values: columns })
  return rows as RecordedRow[]
}
