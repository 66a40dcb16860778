import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { sqlList } from '../../../src/kernel/state-machine.js'
import { openStatuses } from '../../../src/outgoing/lifecycle.js'
import { query } from '../../../src/platform/database/database.js'
import { waitsForDispute } from '../../../src/withdrawals/work-queue.js'
import { retryMissingRefunds } from './operator.js'
import type { Stage } from './stage.js'
import { noteLanded, type Truth } from './truth.js'

/** On a loaded machine a process takes long to start again. */
const settleMs = 300_000
const pollMs = 250
/** Until a transaction is final, and past the last valid height of everything that is signed. */
const finalSlots = 40
const expirySlots = 200

/**
 * Waits until nothing is under way: every tip that landed is final, every payment is booked, every payout, refund, sweep and
 * take-out has ended, and every dispute is in the state that the bank shows. Only then can two books that are read one after the
 * other be the same. Instead of waiting for the next look of a worker, or for the lease of a killed one to end, rows are made due.
 */
export async function settle(stage: Stage, truth: Truth): Promise<void> {
  const { chain } = stage.sandbox
  truth.waiting = truth.waiting.filter((tip) => !noteLanded(stage, truth, tip))
  chain.advance(finalSlots)
  for (const deadline = Date.now() + settleMs; ; await sleep(pollMs)) {
    stage.throwFailure()
    const waiting = await listWaiting(stage, truth)
    if (waiting.length === 0) return
    if (Date.now() > deadline)
      throw new Error(`did not come to an end: ${waiting.join('; ')}; logs: ${stage.logs}`)
    await hurry(stage, truth)
    await retryMissingRefunds(stage)
    // A signed take-out that was not submitted ends when it can no longer land.
    chain.advance(waiting.some((text) => text.startsWith('take-outs')) ? expirySlots : 1)
  }
}

interface Count {
  readonly what: string
  readonly count: number
}

async function listWaiting({ db, sandbox: { fiatpay } }: Stage, truth: Truth): Promise<string[]> {
  const payments = fiatpay.charges.all().flatMap((charge) => charge.payments.map(({ id }) => `fiatpay:${id}`))
  const ended = (resolution: boolean): string[] =>
    fiatpay.disputes
      .all()
      .filter(({ status }) => (status === 'resolved') === resolution)
      .map(({ id }) => String(id))
  const counts = await query<Count>(db, {
    name: 'world.waiting',
    text: /* sql */ `
      select 'tips that are not final' as what, count(*)::int4 as count from unnest($1::text[]) as l(id)
        where not exists (select from tips t where t.id = l.id and t.status = 'confirmed' and t.finalized_at is not null)
      union all select 'deposits that were found and are not final', count(*)::int4 from tips where id = any($5::text[])
        and outcome is null and finalized_at is null
      union all select 'payments that are not booked', count(*)::int4 from unnest($2::text[]) as p(key)
        where not exists (select from ledger_transfers t where t.idem = p.key)
      union all select 'withdrawals: ' || coalesce(string_agg(distinct w.send_state::text, ','), ''), count(*)::int4 from withdrawals w
        where w.status in (${sqlList(openStatuses)}) and w.send_state <> 'manual_review' and not ${waitsForDispute('w')}
      union all select 'refunds: ' || coalesce(string_agg(distinct send_state, ','), ''), count(*)::int4 from refunds where ended_at is null
      union all select 'sweeps', count(*)::int4 from sweeps where ended_at is null
      union all select 'take-outs', count(*)::int4 from wallet_transfers where state = 'signed'
      union all select 'disputes that are not known', count(*)::int4 from unnest($3::text[]) as d(id)
        where not exists (select from disputes where id = d.id)
      union all select 'disputes that are not at their end', count(*)::int4 from unnest($4::text[]) as d(id)
        where not exists (select from disputes where id = d.id and state in ('won', 'lost') and settled)`,
    values: [[...truth.landed.keys()], payments, ended(false), ended(true), [...truth.deposits.keys()]],
  })
  return counts.filter(({ count }) => count > 0).map(({ what, count }) => `${what}: ${count}`)
}

/** A withdrawal or refund in `sending` stays: a request may be on its way. */
async function hurry({ db }: Stage, truth: Truth): Promise<void> {
  const landed = [...truth.landed.keys(), ...truth.deposits.keys()]
  await makeDue(db, 'tips', 'finalized_at is null and id = any(?::text[])', [landed])
  await makeDue(db, 'payment_intents', 'id = any(?::text[])', [truth.unreported])
  for (const [table, condition] of [
    ['fiat_intents', 'not exists (select from fiat_payments where intent_id = fiat_intents.id)'],
    [
      'withdrawals',
      `status in (${sqlList(openStatuses)}) and send_state not in ('sending', 'manual_review')`,
    ],
    ['refunds', `ended_at is null and send_state not in ('sending', 'manual_review')`],
    ['sweeps', 'ended_at is null'],
    ['wallet_transfers', `state = 'signed'`],
    ['dispute_polls', 'true'],
  ] as const)
    await makeDue(db, table, condition)
}

/**
 * Makes rows due that are due later, instead of waiting for the next look of a worker or for the lease of a killed one. Skips what a
 * worker has locked: it has just looked.
 */
export async function makeDue(
  db: Knex,
  table: string,
  condition: string,
  values: readonly Knex.RawBinding[] = [],
): Promise<void> {
  await db.raw(
    `update ${table} set due_at = clock_timestamp() where id = any(array(
      select id from ${table} where due_at > clock_timestamp() + interval '1 second' and ${condition}
      order by id for update skip locked))`,
    values,
  )
}
