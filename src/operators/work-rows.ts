import type { Knex } from 'knex'
import { followedRefunds, sendableRefunds } from '../fiat/refunds/refund.js'
import { sqlList } from '../kernel/state-machine.js'
import { sendableStates } from '../outgoing/lifecycle.js'
import { query } from '../platform/database/database.js'
import { makeDue } from '../platform/database/due-rows.js'
import { type WorkKind, workKinds } from '../platform/queue/wake-ups.js'
import { sendablePayouts } from '../withdrawals/work-queue.js'

/** Where the rows of a kind of work are, as constant SQL. */
interface WorkTable {
  readonly table: string
  /** The column that names a row to operators. */
  readonly key: string
  /** The condition of this kind's rows in the table. */
  readonly condition: string
  /** The last error; null in tables that keep none. */
  readonly error: string
}

const toSend = `send_state in (${sqlList(sendableStates)})`
const tables: Readonly<Record<WorkKind, WorkTable | readonly WorkTable[]>> = {
  verifier: { table: 'tips', key: 'id', condition: 'true', error: 'last_error' },
  finder: [
    { table: 'payment_intents', key: 'id', condition: 'true', error: 'null::text' },
    { table: 'wallet_watches', key: 'id', condition: 'true', error: 'null::text' },
  ],
  settlement: [
    { table: 'fiat_intents', key: 'id', condition: 'true', error: 'last_error' },
    { table: 'dispute_polls', key: 'id', condition: 'true', error: 'last_error' },
  ],
  payouts: [
    {
      table: 'withdrawals',
      key: 'reference',
      // What a frozen account has, what waits for a dispute, and all while payouts are paused, waits for no worker.
      condition: sendablePayouts,
      error: 'last_error',
    },
    {
      table: 'refunds',
      key: 'id',
      condition: `(${sendableRefunds} or ${followedRefunds})`,
      error: 'last_error',
    },
  ],
  reconciler: { table: 'withdrawals', key: 'reference', condition: `not ${toSend}`, error: 'last_error' },
  provisioner: { table: 'wallets', key: 'user_id', condition: 'true', error: 'last_error' },
  custodian: { table: 'sweeps', key: 'id', condition: 'true', error: 'last_error' },
  'take-outs': { table: 'wallet_transfers', key: 'id', condition: 'true', error: 'last_error' },
  mailer: { table: 'emails', key: 'id', condition: 'true', error: 'last_error' },
  dispatcher: { table: 'webhook_endpoints', key: 'id', condition: 'true', error: 'last_error' },
}

function tablesOf(kind: WorkKind): readonly WorkTable[] {
  const of = tables[kind]
  return 'table' in of ? [of] : of
}

/** Every worker polls at least every two seconds, so work that is due for longer than this is at a standstill. */
export const standstillSeconds = 60

/** The rows of one kind of work, counted. A row in work counts as `later`: its lease is its next due time. */
export interface WorkCount {
  readonly kind: WorkKind
  readonly table: string
  readonly due: number
  readonly later: number
  /** Rows with work to do whose last attempt failed. */
  readonly failing: number
  /** How long the oldest due row has been due. */
  readonly oldestSeconds: number | null
}

/** Counts the rows of every kind of work. */
export async function countWork(db: Knex): Promise<WorkCount[]> {
  const each = workKinds.flatMap((kind) =>
    tablesOf(kind).map(
      ({ table, condition, error }) => /* sql */ `
      select '${kind}' as kind, '${table}' as "table",
        (count(*) filter (where due_at <= clock_timestamp()))::int as due,
        (count(*) filter (where due_at > clock_timestamp()))::int as later,
        (count(*) filter (where ${error} is not null))::int as failing,
        extract(epoch from clock_timestamp() - min(due_at) filter (where due_at <= clock_timestamp()))::float8 as "oldestSeconds"
      from ${table} where due_at is not null and ${condition}`,
    ),
  )
  const counts = await query<WorkCount>(db, {
    name: 'ops.count-work',
    text: each.join(' union all '),
  })
  return workKinds.flatMap((kind) => counts.filter((count) => count.kind === kind))
}

/**
 * How many seconds the oldest row of each kind has been due. Reads only the indexes of due rows, so it may be called often;
 * `countWork` reads the rows too. Null: there is no work; negative: the first row is due in the future.
 */
export async function readOldestDue(
  db: Knex,
): Promise<{ readonly kind: WorkKind; readonly seconds: number | null }[]> {
  const each = workKinds.flatMap((kind) =>
    tablesOf(kind).map(
      ({ table, condition }) => /* sql */ `
      select '${kind}' as kind, extract(epoch from clock_timestamp() - min(due_at))::float8 as seconds
      from ${table} where due_at is not null and ${condition}`,
    ),
  )
  const text = `select kind, max(seconds) as seconds from (${each.join(' union all ')}) each_table group by kind`
  return query(db, { name: 'ops.oldest-due', text })
}

/** A row with work to do, due now or later. */
export interface WorkRow {
  readonly kind: WorkKind
  readonly id: string
  readonly dueAt: Date
  readonly dueSeconds: number
  readonly attempts: number
  readonly lastError: string | null
}

/** The rows of one kind: rows with an error first, then by due time. */
export async function listWork(db: Knex, kind: WorkKind, limit: number): Promise<WorkRow[]> {
  const each = tablesOf(kind).map(
    ({ table, key, condition, error }) => /* sql */ `
      select ${key}::text as id, due_at as "dueAt",
        extract(epoch from clock_timestamp() - due_at)::float8 as "dueSeconds", attempts, ${error} as "lastError"
      from ${table} where due_at is not null and ${condition}`,
  )
  const rows = await query<Omit<WorkRow, 'kind'>>(db, {
    name: `ops.list-work-${kind}`,
    text: /* sql */ `
      select * from (${each.join(' union all ')}) work order by "lastError" is null, "dueAt" limit $1`,
    values: [limit],
  })
  return rows.map((row) => ({ kind, ...row }))
}

/** Makes a row due now. False when there is no such row with work to do. */
export async function makeRowDue(trx: Knex, kind: WorkKind, id: string): Promise<boolean> {
  for (const { table, key, condition } of tablesOf(kind))
    if (await makeDue(trx, { name: `ops.${kind}.${table}`, table, condition }, { column: key, value: id }))
      return true
  return false
}
