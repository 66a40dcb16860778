import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import { type WorkKind, workKinds } from '../platform/queue/wake-ups.js'

/** Where the rows of a kind of work lie. SQL, all of it ours. */
interface WorkTable {
  readonly table: string
  /** What a row is known by. */
  readonly key: string
  /** Which of the table's rows are this kind's. */
  readonly own: string
  /** What went wrong the last time, where that is noted. */
  readonly error: string
}

const toSend = `send_state in ('not_sent', 'resend')`
const tables: Readonly<Record<WorkKind, WorkTable>> = {
  verifier: { table: 'tips', key: 'id', own: 'true', error: 'last_error' },
  finder: { table: 'payment_intents', key: 'id', own: 'true', error: 'null::text' },
  settlement: { table: 'fiat_intents', key: 'id', own: 'true', error: 'last_error' },
  payouts: { table: 'withdrawals', key: 'reference', own: toSend, error: 'last_error' },
  reconciler: { table: 'withdrawals', key: 'reference', own: `not ${toSend}`, error: 'last_error' },
  provisioner: { table: 'wallets', key: 'user_id', own: 'true', error: 'last_error' },
  mailer: { table: 'emails', key: 'id', own: 'true', error: 'last_error' },
}

/** Work that waits longer than this stands still: every worker looks every two seconds. */
export const standstillSeconds = 60

/** How the work of a kind stands. Rows whose moment is still to come are `later`; one that is being worked on is, too. */
export interface WorkSum {
  readonly kind: WorkKind
  readonly table: string
  readonly due: number
  readonly later: number
  /** With something to do, and an error from the last time. */
  readonly failing: number
  /** How long the longest due row waits. */
  readonly oldestSeconds: number | null
}

/** Every kind of work, from the rows, which are the truth. */
export async function sumWork(db: Knex): Promise<WorkSum[]> {
  const each = workKinds.map((kind) => {
    const { table, own, error } = tables[kind]
    return /* sql */ `
      select '${kind}' as kind, '${table}' as "table",
        (count(*) filter (where due_at <= clock_timestamp()))::int as due,
        (count(*) filter (where due_at > clock_timestamp()))::int as later,
        (count(*) filter (where ${error} is not null))::int as failing,
        extract(epoch from clock_timestamp() - min(due_at) filter (where due_at <= clock_timestamp()))::float8 as "oldestSeconds"
      from ${table} where due_at is not null and ${own}`
  })
  const sums = await query<WorkSum>(db, { name: 'ops.work', text: each.join(' union all '), values: [] })
  return workKinds.flatMap((kind) => sums.filter((sum) => sum.kind === kind))
}

/**
 * For how many seconds the longest due row of each kind waits, and nothing more: it looks into indexes, where `sumWork`
 * counts, and may be asked often. Null: nothing is left to do; negative: its moment is still to come.
 */
export async function oldestDue(
  db: Knex,
): Promise<{ readonly kind: WorkKind; readonly seconds: number | null }[]> {
  const each = workKinds.map((kind) => {
    const { table, own } = tables[kind]
    return /* sql */ `
      select '${kind}' as kind, extract(epoch from clock_timestamp() - min(due_at))::float8 as seconds
      from ${table} where due_at is not null and ${own}`
  })
  return query(db, { name: 'work.oldest', text: each.join(' union all '), values: [] })
}

/** A row with work to do. */
export interface WorkRow {
  readonly kind: WorkKind
  readonly id: string
  readonly dueAt: Date
  readonly dueSeconds: number
  readonly attempts: number
  readonly lastError: string | null
}

/** The rows of a kind: those with an error first, then by how long they are due; at most so many. */
export async function listWork(db: Knex, kind: WorkKind, most: number): Promise<WorkRow[]> {
  const { table, key, own, error } = tables[kind]
  const rows = await query<Omit<WorkRow, 'kind'>>(db, {
    name: `ops.work_rows_${kind}`,
    text: /* sql */ `
      select ${key}::text as id, due_at as "dueAt",
        extract(epoch from clock_timestamp() - due_at)::float8 as "dueSeconds", attempts, ${error} as "lastError"
      from ${table} where due_at is not null and ${own}
      order by ${error} is null, due_at limit $1`,
    values: [most],
  })
  return rows.map((row) => ({ kind, ...row }))
}

/**
 * Makes a row due now. A worker that is at it meanwhile does no harm: whoever finishes second finds itself overtaken.
 * False: there is no such row with work to do.
 */
export async function makeDue(trx: Knex, kind: WorkKind, id: string): Promise<boolean> {
  const { table, key, own } = tables[kind]
  const changed = await query<{ id: string }>(trx, {
    name: `ops.work_due_${kind}`,
    text: `update ${table} set due_at = clock_timestamp() where ${key}::text = $1 and due_at is not null and ${own} returning ${key}::text as id`,
    values: [id],
  })
  return changed.length === 1
}
