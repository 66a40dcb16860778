import type { Queryable } from '../../platform/database/database.js'
import type { TipStatus } from '../lifecycle.js'
import { type SignedClaim, signedClaimColumns } from './claim.js'

/**
 * Keeps claims that differ from the first one of their tip: at most 5 with the first, the oldest found false giving
 * way. Tips are locked in the order of their signatures, so two batches never wait for each other in a circle. A
 * new claim makes the tip due again, and breaks the fence of a worker that holds it: it has not seen this claim.
 */
const furtherSql = /* sql */ `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[], $6::text[], $7::text[], $8::bytea[])
    with ordinality as i(id, creator_wallet, sender, amount, token_symbol, message, intent_id, hash, ord)
), claim as (
  select distinct on (id, hash) * from input order by id, hash, ord
), further as (
  select c.*, row_number() over (partition by c.id order by c.ord) as place
  from claim c join tips t on t.id = c.id
  where c.hash is distinct from t.claim_hash
    and not exists (select 1 from tip_claims o where o.tip_id = c.id and o.claim_hash = c.hash)
), locked as materialized (
  select id, claim_count from tips where id in (select id from further) order by id for update
), evicted as (
  delete from tip_claims where id in (
    select o.id from locked l
    cross join lateral (select count(*) - (5 - l.claim_count) as excess from further f where f.id = l.id) need
    cross join lateral (select id from tip_claims where tip_id = l.id and found_false_at is not null
                        order by found_false_at limit greatest(need.excess, 0)) o)
  returning tip_id
), stored as (
  insert into tip_claims (tip_id, claim_hash, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id)
  select f.id, f.hash, f.creator_wallet, f.sender, f.amount, f.token_symbol, f.message, f.intent_id
  from further f join locked l on l.id = f.id
  where f.place <= 5 - l.claim_count + (select count(*) from evicted e where e.tip_id = f.id)
  order by f.id, f.place
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
select t.status from input i join tips t on t.id = i.id order by i.ord`

/** Keeps what differs. The claims' tips must be recorded. Answers the tip's status for each, in order. */
export async function recordFurther(pool: Queryable, claims: readonly SignedClaim[]): Promise<TipStatus[]> {
  const values = signedClaimColumns(claims)
  const { rows } = await pool.query({ name: 'tips.record-further', text: furtherSql, values })
  return (rows as { status: TipStatus }[]).map(({ status }) => status)
}
