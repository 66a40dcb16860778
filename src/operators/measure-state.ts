import type { Knex } from 'knex'
import { sendableRefunds } from '../fiat/refunds/refund.js'
import { sqlList } from '../kernel/state-machine.js'
import { openStatuses, sendableStates, unansweredStates } from '../outgoing/lifecycle.js'
import { query } from '../platform/database/database.js'
import { isInReview, sendablePayouts } from '../withdrawals/work-queue.js'
import { listOpenCases } from './open-cases.js'
import { readOldestDue } from './work-rows.js'

/** How long a request without an answer may still be shown, as `PAYOUT_SECONDS` has it by default. */
const lookSeconds = 900

/** Work that has begun and not ended, as SQL: its rows and since when each is unfinished. */
const unfinished = {
  // What is unreadable is looked at once a day.
  verifier: [
    `tips where due_at < clock_timestamp() + interval '1 hour' and status = 'pending'`,
    'recorded_at',
  ],
  finality: [
    `tips where due_at is not null and status = 'confirmed' and finalized_at is null`,
    'confirmed_at',
  ],
  finder: ['payment_intents where due_at is not null', 'created_at'],
  // The provider has told something, and was not asked since. Whether others are paid is not known.
  settlement: ['fiat_intents where due_at is not null and woken_at > asked_at', 'woken_at'],
  // The provider's lists of disputes, refunds and reversals were not read whole since.
  returns: ['dispute_polls where due_at is not null', 'listed_at'],
  // What is held, frozen, not covered, beyond a limit, paused or before a person's decision about a debt waits for no worker.
  payouts: [
    `withdrawals where due_at is not null and breaker is null and ${sendablePayouts} and not ${isInReview('withdrawals')}`,
    'greatest(created_at, confirmed_at, breaker_released_at)',
  ],
  refunds: [
    `refunds where (${sendableRefunds} or ended_at is null and send_state in (${sqlList(unansweredStates)}))`,
    `greatest(created_at, sent_at + interval '${lookSeconds} s')`,
  ],
  reconciler: [
    `withdrawals where due_at is not null and status in (${sqlList(openStatuses)}) and send_state not in (${sqlList(sendableStates)})`,
    'coalesce(submitted_at, sent_at, created_at)',
  ],
  provisioner: [
    'wallets join users on users.id = wallets.user_id where wallets.due_at is not null',
    'users.created_at',
  ],
  // What is undecided waits for a person: it is a case.
  custodian: ['sweeps where ended_at is null and expired_at is null', 'created_at'],
  'take-outs': [
    'wallet_transfers where ended_at is null and signed_at is not null and undecided_at is null',
    'signed_at',
  ],
  mailer: ['emails where due_at is not null', 'created_at'],
} as const satisfies Readonly<Record<string, readonly [rows: string, since: string]>>
export const unfinishedKinds = Object.keys(unfinished) as (keyof typeof unfinished)[]

/** Work that is unfinished for longer is late. */
const lateSeconds = 60

interface Unfinished {
  readonly kind: string
  /** Null: there is none. */
  readonly seconds: number | null
  readonly late: number
}

/** What the gauges show of the database's rows. Numbers for people: no money is computed with them. */
export interface State {
  readonly due: Readonly<Record<string, number>>
  readonly unfinished: readonly Unfinished[]
  readonly cases: readonly { readonly id: string; readonly count: number; readonly seconds: number }[]
  readonly clockSeconds: number
  readonly heldUsdc: number
  /** Null: it was never read. */
  readonly floatNgn: number | null
  readonly floatUnexplainedNgn: number
  readonly floatAgeSeconds: number | null
  /** Null: there is no report, or none with a rate. */
  readonly surplusNgn: number | null
  readonly shortWallets: number
  readonly reportAgeSeconds: number | null
}

/** Measures the state of the service from its rows, in three statements that read indexes of open rows only. */
export async function measureState(db: Knex): Promise<State> {
  const due = await readOldestDue(db)
  const cases = await listOpenCases(db)
  const money = await readMoney(db)
  return {
    due: Object.fromEntries(due.map(({ kind, seconds }) => [kind, Math.max(0, seconds ?? 0)])),
    cases: cases.map(({ id, count, oldestSeconds }) => ({ id, count, seconds: oldestSeconds ?? 0 })),
    ...money,
  }
}

function readMoney(db: Knex): Promise<Omit<State, 'due' | 'cases'>> {
  const each = unfinishedKinds.map((kind) => {
    const [rows, since] = unfinished[kind]
    return /* sql */ `
      select '${kind}' as kind, greatest(0, extract(epoch from clock_timestamp() - min(${since})))::float8 as seconds,
        (count(*) filter (where ${since} < clock_timestamp() - interval '${lateSeconds} s'))::int as late from ${rows}`
  })
  return query<Omit<State, 'due' | 'cases'>>(db, {
    name: 'ops.measure-state',
    text: /* sql */ `
      select (select json_agg(u) from (${each.join(' union all ')}) u) as unfinished,
        (select extract(epoch from clock_timestamp() - beat_at) from heartbeats where name = 'clock')::float8 as "clockSeconds",
        (select coalesce(sum(debit_micro), 0) / 1e6 from withdrawals where status = 'pending')::float8 as "heldUsdc",
        (f.balance / 1e2)::float8 as "floatNgn", coalesce(f.unexplained / 1e2, 0)::float8 as "floatUnexplainedNgn",
        extract(epoch from clock_timestamp() - f.read_at)::float8 as "floatAgeSeconds",
        (r.report::json -> 'surplus' ->> 'NGN')::float8 as "surplusNgn",
        coalesce(jsonb_array_length(r.short_wallets), 0) as "shortWallets",
        extract(epoch from clock_timestamp() - r.made_at)::float8 as "reportAgeSeconds"
      from (select 1) one
        left join (select * from float_readings order by id desc limit 1) f on true
        left join (select * from reserve_reports order by id desc limit 1) r on true`,
  }).then(([row]) => row as Omit<State, 'due' | 'cases'>)
}
