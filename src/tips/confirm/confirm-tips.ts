import type { Knex } from 'knex'
import { internWallets } from '../../creators/intern-parties.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { tipChannel } from '../read/channel.js'
import type { TipFacts } from '../verify/match-tip.js'
import type { StoredClaim } from '../verify/tip-queue.js'
import { creditTips, releaseTipCredits } from './credit-tips.js'

/** A pending tip and what the chain says of it. */
export interface Confirmation {
  readonly id: string
  readonly claims: readonly StoredClaim[]
  /** Where it landed; the time is not known of a transaction the chain was not asked for. */
  readonly transaction: { readonly slot: bigint; readonly blockTime: Date | undefined }
  readonly facts: TipFacts
  /** The cluster can no longer take it back. */
  readonly final: boolean
}

/** When the cluster is likely to have finalized what it has just confirmed: 32 slots of 400 ms. */
const finalityMs = 13_000

/**
 * One statement: locks what is still pending, moves each recipient's cursor once, and stamps the tips in that
 * order, so that a recipient's stamps are unique to the millisecond and never appear behind one already read. A tip
 * that pays an intent ends the search for its payment, and uses up the SDK session it was made in.
 */
const confirmSql = /* sql */ `
with fact as (
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::numeric[], $5::numeric[], $6::smallint[], $7::text[],
                       $8::bigint[], $9::timestamptz[], $10::text[], $11::text[], $12::boolean[], $13::boolean[], $14::boolean[])
    as f(id, recipient, sender, received, shown, decimals, mint, slot, block_time, message, intent_id, fee_found, first_agrees, final)
), open as materialized (
  select f.*, t.recorded_at from tips t join fact f on f.id = t.id
  where t.status = 'pending' order by t.id for update of t
), share as (
  select recipient, count(*) as n from open group by recipient
), cursor as (
  insert into creator_cursors as c (party_id, last_at)
  select recipient, date_trunc('milliseconds', clock_timestamp()) from share order by recipient
  on conflict (party_id) do update
    set last_at = greatest(date_trunc('milliseconds', clock_timestamp()),
                           c.last_at + (select n from share where recipient = c.party_id) * interval '1 ms')
  returning party_id, last_at
), ranked as (
  select o.*, row_number() over (partition by recipient order by recorded_at desc, id desc) - 1 as back from open o
), paid_session as materialized (
  select s.id from sdk_sessions s
  where s.consumed_at is null and s.id in (
    select i.sdk_session_id from open o join payment_intents i on i.id = o.intent_id)
  order by s.id for no key update of s
), paid as (
  update payment_intents set due_at = null
  where id = any(array(select i.id from payment_intents i join open o on o.intent_id = i.id order by i.id for no key update of i))
), consumed as (
  update sdk_sessions set consumed_at = clock_timestamp() where id in (select id from paid_session)
)
update tips t set
  status = 'confirmed', outcome = null,
  due_at = case when not r.final then clock_timestamp() + interval '${finalityMs} ms' end,
  finalized_at = case when r.final then clock_timestamp() end,
  recipient_party = r.recipient, sender_party = r.sender, received_raw = r.received, display_raw = r.shown,
  decimals = r.decimals, mint = r.mint, slot = r.slot, block_time = r.block_time, message = r.message,
  intent_id = r.intent_id, fee_found = r.fee_found,
  found_false_at = case when r.first_agrees then null else clock_timestamp() end,
  confirmed_at = c.last_at - r.back * interval '1 ms'
from ranked r join cursor c on c.party_id = r.recipient
where t.id = r.id
returning t.id`

/**
 * Confirms tips with the chain's facts, each exactly once: a tip that has left `pending` meanwhile is left alone.
 * Readers of the recipients' streams are told to look. Returns how many tips were confirmed here.
 */
export async function confirmTips(
  services: Pick<Services, 'db' | 'transact' | 'metrics'>,
  confirmations: readonly Confirmation[],
): Promise<number> {
  if (confirmations.length === 0) return 0
  // Outside the transaction, or the foreign keys of other batches would wait for ours.
  const parties = await internWallets(
    services.db,
    confirmations.flatMap(({ facts }) => [facts.recipient, facts.sender]),
  )
  const confirmed = await services.transact(async ({ trx, publish }) => {
    const rows = await query<{ id: string }>(trx, {
      name: 'tips.confirm',
      text: confirmSql,
      values: columns(confirmations, parties),
    })
    const moved = new Set(rows.map(({ id }) => id))
    const here = confirmations.filter(({ id }) => moved.has(id))
    await disproveClaims(trx, here)
    await creditTips(
      trx,
      here.map(({ id, facts }) => ({ id, ...facts })),
    )
    await releaseTipCredits(
      trx,
      here.filter(({ final }) => final).map(({ id }) => id),
    )
    for (const { facts } of here) publish(tipChannel(facts.recipient))
    return rows.length
  })
  services.metrics.tipsConfirmed.inc(confirmed)
  return confirmed
}

/** What the facts contradict gives way when somebody claims anew. The first claim's mark stands in the tip itself. */
async function disproveClaims(trx: Knex, confirmations: readonly Confirmation[]): Promise<void> {
  const disproved = confirmations.flatMap(({ claims, facts }) =>
    claims.flatMap(({ furtherId }, index) =>
      furtherId === undefined || facts.agreeing[index] ? [] : [furtherId],
    ),
  )
  if (disproved.length === 0) return
  await query(trx, {
    name: 'tips.disprove',
    text: 'update tip_claims set found_false_at = clock_timestamp() where id = any($1::bigint[]) and found_false_at is null',
    values: [disproved.toSorted((a, b) => a - b)],
  })
}

function columns(confirmations: readonly Confirmation[], parties: ReadonlyMap<string, bigint>): unknown[] {
  const column = <T>(read: (confirmation: Confirmation) => T): T[] => confirmations.map(read)
  return [
    column(({ id }) => id),
    column(({ facts }) => parties.get(facts.recipient)),
    column(({ facts }) => parties.get(facts.sender)),
    column(({ facts }) => facts.received),
    column(({ facts }) => facts.shown),
    column(({ facts }) => facts.token.decimals),
    column(({ facts }) => facts.token.mint),
    column(({ transaction }) => transaction.slot),
    column(({ transaction }) => transaction.blockTime ?? null),
    column(({ facts }) => facts.message),
    column(({ facts }) => facts.intentId),
    column(({ facts }) => facts.feeFound),
    column(({ facts }) => facts.agreeing[0] ?? false),
    column(({ final }) => final),
  ]
}
