import { isDatabaseUnavailable } from '../../platform/database/connections/unavailable.js'
import type { Queryable } from '../../platform/database/database.js'
import { groupCommit } from '../../platform/database/group-commit.js'
import { retryConflicts } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import type { TipStatus } from '../lifecycle.js'
import { type SignedClaim, signedClaimColumns } from './claim.js'

/** The result of recording a claim. `created` is false when the signature was already recorded. */
export interface Recorded {
  readonly created: boolean
  readonly status: TipStatus
  /** The account that owns the claimed creator wallet; always null for a tip that was not created now. */
  readonly recipientId: string | null
}

/**
 * Inserts a tip for each new signature and returns the tips that were already recorded. Rows are inserted in the order
 * of their signatures, so two batches cannot deadlock. The result is not joined with the input: PostgreSQL joins two
 * unnested lists in a nested loop, so the caller matches them with a map.
 */
const recordSql = (input: string, claims: string, recorded: string): string => /* sql */ `
with ${input} created as (
  insert into tips (id, kind, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id, claim_hash, request_id, trace_id)
  ${claims}
  on conflict (id) do nothing
  returning id, creator_wallet
)
select id, true as created, 'pending'::tip_status as status, coalesce(
  (select user_id from wallets where public_key = creator_wallet),
  (select user_id from payout_wallets where wallet = creator_wallet and takes_tips)) as "recipientId"
from created
union all
${recorded}`

const recordMany = {
  name: 'tips.record',
  text: recordSql(
    `input as (
      select * from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::uuid[], $10::uuid[])
        as i (id, creator_wallet, sender, amount, token_symbol, message, intent_id, hash, request_id, trace_id)),`,
    `select id, 'chain', creator_wallet, sender, amount, token_symbol, message, intent_id, hash, request_id, trace_id from input order by id`,
    'select t.id, false, t.status, null from input i join tips t on t.id = i.id and t.claim_hash = i.hash',
  ),
}

/** For a batch of one: a list costs a tenth more of PostgreSQL's time. */
const recordOne = {
  name: 'tips.record-one',
  text: recordSql(
    '',
    `values ($1, 'chain', $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    'select id, false, status, null from tips where id = $1 and claim_hash = $8',
  ),
}

type RecordedRow = Recorded & { readonly id: string }

/** Records claims in groups: callers share a statement, and each waits for its own durable commit (docs/decisions/0009). */
export function createRecorder({
  recordPool,
}: Pick<Services, 'recordPool'>): (claim: SignedClaim) => Promise<Recorded> {
  const run = (claims: SignedClaim[]) => retryConflicts(() => recordClaims(recordPool, claims))
  return groupCommit(run, { failsWholeBatch: isDatabaseUnavailable })
}

/**
 * The first statement takes one claim per signature and inserts its tip, or compares it with the stored first claim.
 * A second statement takes the other claims: claims that differ, further claims of a signature in this batch, and
 * signatures that another batch was inserting at the same time. Their tips are committed by then.
 */
async function recordClaims(pool: Queryable, claims: readonly SignedClaim[]): Promise<Recorded[]> {
  const first = new Map<string, SignedClaim>()
  for (const claim of claims) if (!first.has(claim.signature)) first.set(claim.signature, claim)
  const rows = await recordFirstClaims(pool, [...first.values()])
  const recorded = new Map(rows.map((row) => [row.id, row]))
  const further = claims.filter(
    (claim) => first.get(claim.signature) !== claim || !recorded.has(claim.signature),
  )
  const statuses = further.length === 0 ? [] : await recordFurtherClaims(pool, further)
  const answers = new Map(
    further.map((claim, index) => [claim, { created: false, status: statuses[index], recipientId: null }]),
  )
  return claims.map((claim) => (answers.get(claim) ?? recorded.get(claim.signature)) as Recorded)
}

async function recordFirstClaims(pool: Queryable, claims: readonly SignedClaim[]): Promise<RecordedRow[]> {
  const columns = signedClaimColumns(claims)
  const { rows } =
    claims.length === 1
      ? await pool.query({ ...recordOne, values: columns.flat() })
      : await pool.query({ ...recordMany, values: columns })
  return rows as RecordedRow[]
}

/**
 * Stores claims that differ from the first claim of their tip. A tip has at most 5 claims, the first included; a new
 * claim replaces the one that was found false longest ago, and one that names the tip's intent any that does not: strangers cannot
 * keep out the supporter. Tips are locked in the order of their signatures, so two
 * batches cannot deadlock. A new claim makes the tip due again. It also increments `attempts`, which breaks the fence of
 * a worker that holds the tip, because that worker has not read the new claim.
 */
const furtherSql = /* sql */ `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::uuid[], $10::uuid[])
    with ordinality as i(id, creator_wallet, sender, amount, token_symbol, message, intent_id, hash, request_id, trace_id, ord)
), claim as (
  select distinct on (id, hash) * from input order by id, hash, ord
), further as (
  select c.*, row_number() over (partition by c.id order by c.ord) as number
  from claim c join tips t on t.id = c.id
  where c.hash is distinct from t.claim_hash
    and not exists (select 1 from tip_claims o where o.tip_id = c.id and o.claim_hash = c.hash)
), locked as materialized (
  select id, claim_count, intent_id from tips where id in (select id from further) order by id for update
), evicted as (
  delete from tip_claims where id in (
    select o.id from locked l
    cross join lateral (select count(*) - (5 - l.claim_count) as excess from further f where f.id = l.id) need
    cross join lateral (
      select id from tip_claims
      where tip_id = l.id and (found_false_at is not null or (
        claimed_intent_id is distinct from l.intent_id and (l.intent_id is not null or claimed_intent_id is null)
        and exists (select from further f where f.id = l.id and f.intent_id = coalesce(l.intent_id, f.intent_id))))
      order by found_false_at, id limit greatest(need.excess, 0)) o)
  returning tip_id
), stored as (
  insert into tip_claims (tip_id, claim_hash, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id,
    request_id, trace_id)
  select f.id, f.hash, f.creator_wallet, f.sender, f.amount, f.token_symbol, f.message, f.intent_id, f.request_id, f.trace_id
  from further f join locked l on l.id = f.id
  where f.number <= 5 - l.claim_count + (select count(*) from evicted e where e.tip_id = f.id)
  order by f.id, f.number
  on conflict do nothing
  returning tip_id
), counted as (
  select id, (select count(*) from stored s where s.tip_id = l.id) as added,
         (select count(*) from evicted e where e.tip_id = l.id) as removed
  from locked l
), due_again as (
  update tips t set claim_count = t.claim_count + c.added - c.removed, due_at = clock_timestamp(), attempts = t.attempts + 1
  from counted c where t.id = c.id and c.added + c.removed > 0
)
select t.status from input i join tips t on t.id = i.id order by i.ord`

/** The tips of the claims must exist. Returns the status of the tip for each claim, in order. */
async function recordFurtherClaims(pool: Queryable, claims: readonly SignedClaim[]): Promise<TipStatus[]> {
  const values = signedClaimColumns(claims)
  const { rows } = await pool.query({ name: 'tips.record-further', text: furtherSql, values })
  return (rows as { status: TipStatus }[]).map(({ status }) => status)
}
