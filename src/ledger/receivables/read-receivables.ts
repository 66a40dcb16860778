import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'

/** What a creator owes, or may come to owe, by one case (docs/decisions/0067). */
export interface NewReceivable {
  /** The case, such as `dispute:17`. Begins the keys of its transfers. */
  readonly id: string
  readonly userId: string
  /** What it is about. The creator sees it in the statement. */
  readonly ref: string
  readonly amountMicro: bigint
}

/** A receivable as it is stored. Every change of one holds the lock of its creator's balances. */
export interface Receivable extends NewReceivable {
  /** Set aside while it is not owed; paid once it is. */
  readonly coveredMicro: bigint
  readonly owed: boolean
  /** Its ledger transfers so far. */
  readonly transfers: number
  /** Freed, or given back. */
  readonly isClosed: boolean
  readonly createdAt: Date
}

export const receivableColumns = /* sql */ `
  id, creator_id as "userId", ref, amount_micro as "amountMicro", covered_micro as "coveredMicro", owed, transfers,
  closed_at is not null as "isClosed", created_at as "createdAt"`

/** Not covered yet. The index `receivables_short` has these rows. */
export const uncovered = 'covered_micro < amount_micro and closed_at is null'

export async function findReceivable(db: Knex, id: string): Promise<Receivable | undefined> {
  const [row] = await query<Receivable>(db, {
    name: 'receivables.find',
    text: `select ${receivableColumns} from receivables where id = $1`,
    values: [id],
  })
  return row
}

/** What creators owe and have not paid, oldest first: all of them, or one. */
export function listDebts(db: Knex, limit: number, userId?: string): Promise<Receivable[]> {
  return query<Receivable>(db, {
    name: 'receivables.debts',
    text: /* sql */ `
      select ${receivableColumns} from receivables
       where ${uncovered} and owed and ($2::uuid is null or creator_id = $2) order by created_at, id limit $1`,
    values: [limit, userId ?? null],
  })
}

/** What a creator owes and has not paid, and what open disputes may cost, in micro-USDC. */
export async function readClaims(
  db: Knex,
  userId: string,
): Promise<{ readonly owed: bigint; readonly disputed: bigint }> {
  const [row] = await query<{ owed: string; disputed: string }>(db, {
    name: 'receivables.claims',
    text: /* sql */ `
      select coalesce(sum(amount_micro - covered_micro) filter (where owed), 0)::text as owed,
        coalesce(sum(amount_micro) filter (where not owed), 0)::text as disputed
      from receivables where creator_id = $1 and closed_at is null`,
    values: [userId],
  })
  return { owed: BigInt(row?.owed ?? 0), disputed: BigInt(row?.disputed ?? 0) }
}

/** Whether a creator owes what no balance has paid yet. Such a creator takes nothing out. */
export async function owesReceivable(trx: Knex, userId: string): Promise<boolean> {
  const [row] = await query<{ owes: boolean }>(trx, {
    name: 'receivables.owes',
    text: `select exists (select from receivables where creator_id = $1 and ${uncovered} and owed) as owes`,
    values: [userId],
  })
  return row?.owes ?? false
}

/**
 * Whether a case of a creator is not covered, as SQL: an open dispute about more than there is, or a loss that is not paid.
 * `userId`: the column with the creator. A scalar subquery, so that it filters the rows of an index and is not joined.
 */
export function isShort(userId: string): string {
  return `(select true from receivables where creator_id = ${userId} and ${uncovered} limit 1) is not null`
}

/** What the keys of the transfers end in that write a case off, and take that back. They begin with the case. */
export const writeOffEnding = ':written-off'
export const undoEnding = ':write-off-undone'

/** Whether a case is written off, as SQL. `id`: the column with the case. */
export function isWrittenOff(id: string): string {
  const posted = (ending: string) => `exists (select from ledger_transfers where idem = ${id} || '${ending}')`
  return `(${posted(writeOffEnding)} and not ${posted(undoEnding)})`
}
