import { isDatabaseAway, type Queryable } from '../platform/db.js'
import { groupCommit } from '../platform/group-commit.js'
import type { Services } from '../services.js'
import type { SignedClaim } from './claim.js'

/** The answer to a recorded claim. `created` is false for a signature that was known. */
export interface Recorded {
  readonly created: boolean
  readonly status: 'pending' | 'confirmed' | 'failed' | 'cancelled'
  /** The account that owns the claimed creator wallet. */
  readonly recipientId: string | null
}

/**
 * Claims in, answers out, in one statement: a row per new signature; a further claim where a known signature is
 * claimed differently, at most 5 with the first, the oldest found false giving way. Rows are written and locked in
 * the order of their signatures, so two batches never wait for each other in a circle. A new differing claim
 * makes the tip due again, and breaks the fence of a worker that holds it: it has not seen this claim.
 */
const recordSql = /* sql */ `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[], $6::text[], $7::text[], $8::bytea[])
    with ordinality as i(id, creator_wallet, sender, amount, token_symbol, message, intent_id, hash, ord)
), claim as (
  select *, row_number() over (partition by id order by ord) as turn, count(*) over (partition by id) as total
  from (select distinct on (id, hash) * from input order by id, hash, ord) as differing
), made as (
  insert into tips (id, kind, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id, claim_hash, claim_count)
  select id, 'chain', creator_wallet, sender, amount, token_symbol, message, intent_id, hash, least(total, 5)
  from claim where turn = 1 order by id
  on conflict (id) do nothing
  returning id
), further as (
  select c.*, m.id is null as counted
  from claim c left join made m on m.id = c.id left join tips t on t.id = c.id
  where case when m.id is not null then c.turn between 2 and 5
        else t.id is not null and c.hash is distinct from t.claim_hash
             and not exists (select 1 from tip_claims o where o.tip_id = c.id and o.claim_hash = c.hash) end
), locked as materialized (
  select id, claim_count from tips where id in (select id from further where counted) order by id for update
), evicted as (
  delete from tip_claims where id in (
    select o.id from locked l
    cross join lateral (select count(*) - (5 - l.claim_count) as excess from further f where f.id = l.id) need
    cross join lateral (select id from tip_claims where tip_id = l.id and found_false_at is not null
                        order by found_false_at limit greatest(need.excess, 0)) o)
  returning tip_id
), accepted as (
  select f.* from (select *, row_number() over (partition by id order by turn) as place from further) f
  left join locked l on l.id = f.id
  where l.id is null or f.place <= 5 - l.claim_count + (select count(*) from evicted e where e.tip_id = f.id)
), stored as (
  insert into tip_claims (tip_id, claim_hash, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id)
  select id, hash, creator_wallet, sender, amount, token_symbol, message, intent_id from accepted order by id, turn
  on conflict do nothing
  returning tip_id
), moved as (
  select id, (select count(*) from stored s where s.tip_id = l.id) as came,
         (select count(*) from evicted e where e.tip_id = l.id) as went
  from locked l
), due_again as (
  update tips t set claim_count = t.claim_count + m.came - m.went, due_at = clock_timestamp(), attempts = t.attempts + 1
  from moved m where t.id = m.id and m.came + m.went > 0
)
select m.id is null and t.id is null as unseen,
       m.id is not null and c.turn = 1 and c.ord = i.ord as created, coalesce(t.status, 'pending') as status,
       w.user_id as "recipientId"
from input i
join claim c on c.id = i.id and c.hash = i.hash
left join made m on m.id = i.id
left join tips t on t.id = i.id
left join wallets w on w.public_key = i.creator_wallet
order by i.ord`

/**
 * `unseen`: another batch recorded this signature after this statement had begun, so nothing could be compared with
 * what was claimed there.
 */
interface RecordedRow extends Recorded {
  readonly unseen: boolean
}

/**
 * The same for one claim alone, at a third of the cost of the general statement. It stores no further claim: `differs`
 * says that there is one to store.
 */
const recordOneSql = /* sql */ `
with made as (
  insert into tips (id, kind, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id, claim_hash)
  values ($1, 'chain', $2, $3, $4, $5, $6, $7, $8)
  on conflict (id) do nothing
  returning id
)
select made.id is not null as created, coalesce(t.status, 'pending') as status,
       (select user_id from wallets where public_key = $2) as "recipientId",
       made.id is null and t.claim_hash is distinct from $8 as differs
from (values ($1)) as claimed (id) left join made using (id) left join tips t on t.id = claimed.id`

/** Records claims in groups: many callers share one statement, each waits for its own durable commit. */
export function createRecorder({
  recordPool,
}: Pick<Services, 'recordPool'>): (claim: SignedClaim) => Promise<Recorded> {
  async function record(claims: SignedClaim[]): Promise<Recorded[]> {
    const [only] = claims
    const alone = claims.length === 1 && only !== undefined ? await recordOne(recordPool, only) : undefined
    return alone === undefined || alone.differs ? recordMany(recordPool, claims) : [alone]
  }
  return groupCommit(record, { failsAll: isDatabaseAway })
}

async function recordOne(pool: Queryable, claim: SignedClaim): Promise<Recorded & { differs: boolean }> {
  const values = columns.map((column) => claim[column])
  const { rows } = await pool.query({ name: 'tips.record-one', text: recordOneSql, values })
  return rows[0] as Recorded & { differs: boolean }
}

async function recordMany(pool: Queryable, claims: readonly SignedClaim[]): Promise<Recorded[]> {
  const values = columns.map((column) => claims.map((claim) => claim[column]))
  const { rows } = await pool.query({ name: 'tips.record', text: recordSql, values })
  const recorded = rows as RecordedRow[]
  const unseen = claims.filter((_, index) => recorded[index]?.unseen)
  if (unseen.length === 0) return recorded
  // They are committed by now: the next statement sees them.
  const again = await recordMany(pool, unseen)
  return recorded.map((row) => (row.unseen ? (again.shift() as Recorded) : row))
}

/** The parameters of both statements, in order. */
const columns = [
  'signature',
  'creatorWallet',
  'sender',
  'amount',
  'tokenSymbol',
  'message',
  'intentId',
  'hash',
] as const
