import type { Knex } from 'knex'
import { internWallets } from '../../accounts/wallets/intern-parties.js'
import { namedOrigin, type Origin, originColumns } from '../../kernel/trace-context.js'
import { query, write } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { recordReleases, recordTipEvents } from '../describe-tips.js'
import { advanceTips } from '../lifecycle.js'
import { addToSums } from '../read/daily-sums.js'
import { tipChannel } from '../read/present.js'
import type { TipFacts } from '../verify/match-tip.js'
import type { StoredClaim } from '../verify/tip-queue.js'
import { creditTips, type FurtherCredits, furtherCredits, releaseTipCredits } from './credit-tips.js'

export interface Confirmation {
  readonly id: string
  readonly claims: readonly StoredClaim[]
  /** The block time is undefined when the transaction was not fetched. */
  readonly transaction: { readonly slot: bigint; readonly blockTime: Date | undefined }
  readonly facts: TipFacts
  /** Finalized: the cluster can no longer drop the transaction. */
  readonly final: boolean
}

/**
 * The usual time from confirmation to finalization: 32 slots of 400 ms. A tip is looked at at the next full second after that, together
 * with all tips of that second.
 */
const finalityMs = 13_000

const confirmation = advanceTips('confirmed', ['pending'])

/**
 * One statement (docs/decisions/0009): locks the tips that are still pending, moves the cursor of each recipient once, and
 * numbers the tips back from the cursor. So the stamps of a recipient are unique to the millisecond and always later than
 * a stamp already read. A tip that pays an intent is in the intent's trace, unless its claim came with one; it ends the search for its payment and consumes its SDK session. The statement
 * adds to the sums only after the cursors are locked, so no other batch waits inside them. It increments `attempts`, which
 * breaks the fence of a worker that holds the tip and found something else.
 */
const confirmSql = /* sql */ `
with fact as (
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::numeric[], $5::numeric[], $6::smallint[], $7::text[],
                       $8::bigint[], $9::timestamptz[], $10::text[], $11::text[], $12::boolean[], $13::boolean[], $14::boolean[],
                       $15::text[], $16::jsonb[], $17::boolean[], $18::text[])
    as f(id, recipient, sender, received, displayed, decimals, mint, slot, block_time, message, intent_id, fee_found, first_agrees, final,
         underpaid_intent_id, further_credits, message_by_intent, paid_wallet)
), open as materialized (
  select f.*, t.recorded_at, t.further_credits as credited_before from tips t join fact f on f.id = t.id
  where t.${confirmation.from} order by t.id for update of t
), per_recipient as (
  select recipient, count(*) as n from open group by recipient
), cursor as (
  insert into creator_cursors as c (party_id, last_at)
  select recipient, date_trunc('milliseconds', clock_timestamp()) from per_recipient order by recipient
  on conflict (party_id) do update
    set last_at = greatest(date_trunc('milliseconds', clock_timestamp()),
                           c.last_at + (select n from per_recipient where recipient = c.party_id) * interval '1 ms')
  returning party_id, last_at
), ranked as (
  select o.*, row_number() over (partition by recipient order by recorded_at desc, id desc) - 1 as tips_after from open o
), summed as (
  ${addToSums(`select r.recipient as party, r.recorded_at, r.mint, r.decimals, 1 as n, r.displayed as raw
    from ranked r join cursor c on c.party_id = r.recipient`)}
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
  ${confirmation.set}, outcome = null, attempts = t.attempts + 1,
  due_at = case when not r.final and t.main_id is null then date_trunc('second', clock_timestamp() + interval '${finalityMs + 1000} ms') end,
  finalized_at = case when r.final then clock_timestamp() end,
  recipient_party = r.recipient, sender_party = r.sender, received_raw = r.received, display_raw = r.displayed,
  decimals = r.decimals, mint = r.mint, slot = r.slot, block_time = r.block_time, message = r.message,
  intent_id = r.intent_id, fee_found = r.fee_found,
  message_by_intent = r.message_by_intent, paid_wallet = r.paid_wallet, underpaid_intent_id = r.underpaid_intent_id, further_credits =
    nullif(coalesce(r.credited_before, '{}') || coalesce(r.further_credits, '{}'), '{}'),
  found_false_at = case when r.first_agrees or t.main_id is not null then null else clock_timestamp() end,
  confirmed_at = c.last_at - r.tips_after * interval '1 ms', reference = i.reference, metadata = i.metadata,
  sender_name = i.sender_name,
  trace_id = coalesce(t.trace_id, i.trace_id, case when t.request_id is null then i.request_id end)
from ranked r join cursor c on c.party_id = r.recipient left join payment_intents i on i.id = r.intent_id
where t.id = r.id
returning t.id, t.confirmed_at as "confirmedAt", r.final as "isFinal", ${originColumns('t')}, r.credited_before as "creditedBefore", greatest(0, extract(epoch from clock_timestamp() - case
  when r.recorded_at < r.block_time + interval '10 minutes' then r.block_time else r.recorded_at end))::float8 as seconds`

/**
 * Confirms tips with their facts, each exactly once: a tip that is no longer `pending` stays unchanged. Credits them and
 * notifies the readers of the recipients' streams after the commit. Returns the number of tips confirmed now.
 * `andThen` runs in the same transaction with those tips.
 */
export async function confirmTips(
  services: Pick<Services, 'db' | 'transact' | 'metrics'>,
  mains: readonly Confirmation[],
  andThen?: (trx: Knex.Transaction, confirmed: readonly Confirmation[]) => Promise<void>,
): Promise<number> {
  if (mains.length === 0) return 0
  const further = mains.flatMap(furtherOf)
  const confirmations = [...mains, ...further]
  // Outside the transaction: otherwise other batches would wait for its rows in their foreign key checks.
  const parties = await internWallets(
    services.db,
    confirmations.flatMap(({ facts }) => [partyWallet(facts), facts.sender]),
  )
  const confirmed = await services.transact(async (uow) => {
    const { trx, publish, log } = uow
    if (further.length > 0) await storeFurther(trx, mains, further)
    const rows = await query<ConfirmedRow>(trx, {
      name: 'tips.confirm',
      text: confirmSql,
      values: columns(confirmations, parties),
    })
    const before = new Map(rows.map(({ id, creditedBefore }) => [id, creditedBefore ?? {}]))
    const confirmedNow = mains.filter(({ id }) => before.has(id))
    await disproveClaims(trx, confirmedNow)
    await creditTips(
      trx,
      confirmedNow.map(({ id, facts }) => ({
        id,
        ...facts,
        credits: notYetCredited(facts.credits, before.get(id) ?? {}),
      })),
    )
    const final = confirmedNow.filter((confirmation) => confirmation.final)
    const released = await releaseTipCredits(
      trx,
      final.map(({ id, facts }) => ({ id, furtherCredits: furtherCredits(facts) })),
    )
    for (const { id, facts } of confirmations) if (before.has(id)) publish(tipChannel(partyWallet(facts)))
    // In the order of their stamps, as streams and polls have them.
    const inOrder = rows.toSorted((a, b) => a.confirmedAt.getTime() - b.confirmedAt.getTime())
    recordTipEvents(uow, 'tip.confirmed', inOrder)
    recordTipEvents(
      uow,
      'tip.final',
      inOrder.filter(({ isFinal }) => isFinal),
    )
    recordReleases(uow, released)
    for (const row of rows) log({ tip: row.id, ...namedOrigin(row) }, 'a tip was confirmed')
    await andThen?.(trx, confirmedNow)
    return rows
  })
  services.metrics.tipsConfirmed.inc(confirmed.length)
  for (const { seconds } of confirmed) services.metrics.tipVisibleSeconds.observe(seconds)
  return confirmed.length
}

/** The tips to other creators in the transaction of a tip. */
function furtherOf({ facts, ...main }: Confirmation): Further[] {
  return (facts.further ?? []).map((further) => {
    return { ...main, id: `${main.id}:${further.recipient}`, mainId: main.id, claims: [], facts: further }
  })
}

interface Further extends Confirmation {
  readonly mainId: string
}

/**
 * Stores the further tips of those that are still pending, which stay locked. They follow their main tip: no worker takes
 * them, and its credits have their money.
 */
async function storeFurther(
  trx: Knex,
  mains: readonly Confirmation[],
  further: readonly Further[],
): Promise<void> {
  await write(trx, {
    name: 'tips.store-further',
    text: /* sql */ `
      with main as materialized (
        select id, recorded_at, request_id, trace_id from tips where id = any($1::text[]) and ${confirmation.from} order by id for update
      )
      insert into tips (id, main_id, kind, creator_wallet, sender, amount, token_symbol, claim_hash, recorded_at, request_id, trace_id, due_at)
      select f.id, m.id, 'chain', f.recipient, f.sender, f.received, f.symbol, '', m.recorded_at, m.request_id, m.trace_id, null
      from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[])
        as f(id, main_id, recipient, sender, received, symbol) join main m on m.id = f.main_id`,
    values: [
      mains.map(({ id }) => id),
      further.map(({ id }) => id),
      further.map(({ mainId }) => mainId),
      further.map(({ facts }) => facts.recipient),
      further.map(({ facts }) => facts.sender),
      further.map(({ facts }) => facts.received),
      further.map(({ facts }) => facts.token.symbol),
    ],
  })
}

/** The wallet of the party that a tip belongs to: of a tip to a creator's own wallet, the custody wallet. */
function partyWallet({ recipient, custodyWallet = recipient }: TipFacts): string {
  return custodyWallet
}

interface ConfirmedRow extends Origin {
  readonly id: string
  readonly confirmedAt: Date
  readonly isFinal: boolean
  /** The credits of its transaction from the time when it was no tip. */
  readonly creditedBefore: FurtherCredits | null
  /** Since it landed. A tip that was reported late counts from then. */
  readonly seconds: number
}

function notYetCredited(
  credits: ReadonlyMap<string, bigint>,
  before: FurtherCredits,
): ReadonlyMap<string, bigint> {
  return new Map([...credits].filter(([wallet]) => !Object.hasOwn(before, wallet)))
}

/** Marks further claims that the facts contradict, so that new claims may replace them. The first claim is marked in `tips`. */
async function disproveClaims(trx: Knex, confirmations: readonly Confirmation[]): Promise<void> {
  const disproved = confirmations.flatMap(({ claims, facts }) =>
    claims.flatMap(({ furtherId }, index) =>
      furtherId === undefined || facts.agreeing[index] ? [] : [furtherId],
    ),
  )
  if (disproved.length === 0) return
  await write(trx, {
    name: 'tips.disprove',
    text: 'update tip_claims set found_false_at = clock_timestamp() where id = any($1::bigint[]) and found_false_at is null',
    values: [disproved.toSorted((a, b) => a - b)],
  })
}

function columns(confirmations: readonly Confirmation[], parties: ReadonlyMap<string, bigint>): unknown[] {
  const column = <T>(read: (confirmation: Confirmation) => T): T[] => confirmations.map(read)
  return [
    column(({ id }) => id),
    column(({ facts }) => parties.get(partyWallet(facts))),
    column(({ facts }) => parties.get(facts.sender)),
    column(({ facts }) => facts.received),
    column(({ facts }) => facts.displayed),
    column(({ facts }) => facts.token.decimals),
    column(({ facts }) => facts.token.mint),
    column(({ transaction }) => transaction.slot),
    column(({ transaction }) => transaction.blockTime ?? null),
    column(({ facts }) => facts.message),
    column(({ facts }) => facts.intentId),
    column(({ facts }) => facts.feeFound),
    column(({ facts }) => facts.agreeing[0] ?? false),
    column(({ final }) => final),
    column(({ facts }) => facts.underpaidIntentId),
    column(({ facts }) => JSON.stringify(furtherCredits(facts)) ?? null),
    column(({ facts }) => facts.messageByIntent),
    column(({ facts }) => (facts.custodyWallet === undefined ? null : facts.recipient)),
  ]
}
