import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import { type Entry, platformAccount, transferEntries, userAccount } from './accounts.js'
import { lockBalances } from './balance.js'
import { findTransfer, openAccounts, postAlone, resolutionKey } from './post-transfer.js'

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

const columns = /* sql */ `
  id, creator_id as "userId", ref, amount_micro as "amountMicro", covered_micro as "coveredMicro", owed, transfers,
  closed_at is not null as "isClosed", created_at as "createdAt"`

/** Not covered yet. The index `receivables_short` has these rows. */
const short = 'covered_micro < amount_micro and closed_at is null'

const available = (userId: string) => userAccount(userId, 'available', 'USDC')
const held = (userId: string) => userAccount(userId, 'held', 'USDC')
const receivables = platformAccount('receivables', 'USDC')
const revenue = platformAccount('platform_fee', 'USDC')

/**
 * Sets aside up to this amount of what a creator has: what is available now, and what becomes available later. Called again
 * with more, it sets aside more; otherwise nothing changes.
 */
export async function holdReceivable(
  trx: Knex.Transaction,
  { id, userId, ref, amountMicro }: NewReceivable,
): Promise<void> {
  const before = await findReceivable(trx, id)
  if (before !== undefined && (before.owed || before.isClosed || before.amountMicro >= amountMicro)) return
  await lockAvailable(trx, userId)
  await query(trx, {
    name: 'receivables.hold',
    text: /* sql */ `
      insert into receivables (id, creator_id, ref, amount_micro) values ($1, $2, $3, $4)
      on conflict (id) do update set amount_micro = greatest(receivables.amount_micro, excluded.amount_micro)
        where not receivables.owed and receivables.closed_at is null`,
    values: [id, userId, ref, amountMicro],
  })
  await coverReceivables(trx, [userId])
}

/**
 * The creator owes this amount from now on: the caller has posted it to the platform's account `receivables`. What was set aside
 * for it pays first, then what is available, then what becomes available later. What was set aside beyond it is available again.
 */
export async function collectReceivable(
  trx: Knex.Transaction,
  { id, userId, ref, amountMicro }: NewReceivable,
): Promise<void> {
  await lockAvailable(trx, userId)
  const hold = await findReceivable(trx, id)
  const paidMicro = hold === undefined ? 0n : await payFromHolds(trx, hold, amountMicro)
  await query(trx, {
    name: 'receivables.collect',
    text: /* sql */ `
      insert into receivables (id, creator_id, ref, amount_micro, covered_micro, owed) values ($1, $2, $3, $4, $5, true)
      on conflict (id) do update set amount_micro = excluded.amount_micro, covered_micro = excluded.covered_micro, owed = true
        where not receivables.owed and receivables.closed_at is null`,
    values: [id, userId, ref, amountMicro, paidMicro],
  })
  await coverReceivables(trx, [userId])
}

/**
 * Takes an amount of what is available, in `spend`, although there may be less: the platform lends what is missing, and the creator
 * owes it. Returns how much that is.
 */
export async function spendOwing(
  trx: Knex.Transaction,
  { id, userId, ref, amountMicro }: NewReceivable,
  spend: () => Promise<unknown>,
): Promise<bigint> {
  const there = await lockAvailable(trx, userId)
  const missing = amountMicro > there ? amountMicro - there : 0n
  if (missing > 0n)
    await postAlone(trx, {
      idem: `${id}:lent`,
      kind: 'credit',
      ref,
      entries: transferEntries(missing, receivables, available(userId)),
    })
  await spend()
  if (missing > 0n) await collectReceivable(trx, { id, userId, ref, amountMicro: missing })
  return missing
}

/** Nothing is owed: what was set aside is available again. Does nothing when there is no such hold. */
export async function freeReceivable(trx: Knex.Transaction, id: string): Promise<void> {
  const found = await findReceivable(trx, id)
  if (found === undefined) return
  await lockAvailable(trx, found.userId)
  const hold = await findReceivable(trx, id)
  if (hold === undefined || hold.owed || hold.isClosed) return
  await payFromHolds(trx, hold, 0n)
  await close(trx, id)
  await coverReceivables(trx, [hold.userId])
}

/**
 * Gives up what a creator still owes by a case: it becomes a loss of the platform, and nothing that arrives later pays it. Returns
 * the amount; zero: nothing is owed by it.
 */
export async function writeOffReceivable(trx: Knex.Transaction, id: string): Promise<bigint> {
  const found = await findReceivable(trx, id)
  if (found === undefined) return 0n
  await lockAvailable(trx, found.userId)
  const { ref, owed, isClosed, amountMicro, coveredMicro } = (await findReceivable(trx, id)) ?? found
  const openMicro = amountMicro - coveredMicro
  if (!owed || isClosed || openMicro === 0n) return 0n
  const entries = transferEntries(openMicro, revenue, receivables)
  await postAlone(trx, { idem: writeOffKey(id), kind: 'credit', ref, entries })
  await close(trx, id)
  return openMicro
}

const writeOffKey = (id: string): string => `${id}:written-off`
const undoKey = (id: string): string => `${id}:write-off-undone`

/** Whether a case is written off, as SQL. `id`: the column with the case. */
export function isWrittenOff(id: string): string {
  const posted = (ending: string) => `exists (select from ledger_transfers where idem = ${id} || '${ending}')`
  return `(${posted(writeOffKey(''))} and not ${posted(undoKey(''))})`
}

/** Takes the write-off of a case back, if there was one: the creator owes the amount again. */
async function undoWriteOff(trx: Knex, id: string): Promise<void> {
  const done = await findTransfer(trx, writeOffKey(id))
  if (done === undefined) return
  const entries = done.entries.map(({ account, amount }) => ({ account, amount: -amount }))
  await postAlone(trx, { idem: undoKey(id), kind: 'credit', ref: done.ref, entries })
}

/**
 * Ends what a creator owes, because the loss was none. The caller posts in the same transaction: what was paid to the creator, the
 * rest to the platform's account `receivables`.
 */
export async function endReceivable(
  trx: Knex.Transaction,
  id: string,
): Promise<{ readonly paidMicro: bigint; readonly openMicro: bigint }> {
  const found = await findReceivable(trx, id)
  if (found === undefined) return { paidMicro: 0n, openMicro: 0n }
  await lockAvailable(trx, found.userId)
  const owed = (await findReceivable(trx, id)) ?? found
  await undoWriteOff(trx, id)
  await close(trx, id)
  return { paidMicro: owed.coveredMicro, openMicro: owed.amountMicro - owed.coveredMicro }
}

/**
 * Lets available money of these creators cover what is not covered yet: first what they owe, then what may be lost, older cases
 * first. Follows every transfer that makes money available, in its transaction, which holds the lock of the accounts: so no case is
 * added meanwhile. One statement for creators without such a case.
 */
export async function coverReceivables(db: Knex, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return
  const creators = await query<{ userId: string }>(db, {
    name: 'receivables.short',
    text: /* sql */ `
      select distinct creator_id as "userId" from receivables where creator_id = any($1::uuid[]) and ${short} order by 1`,
    values: [[...new Set(userIds)]],
  })
  for (const { userId } of creators)
    if (db.isTransaction) await coverOf(db, userId)
    else await db.transaction((trx) => coverOf(trx, userId))
}

async function coverOf(trx: Knex, userId: string): Promise<void> {
  let left = await lockAvailable(trx, userId)
  const cases = await query<Receivable>(trx, {
    name: 'receivables.cases',
    text: `select ${columns} from receivables where creator_id = $1 and ${short} order by owed desc, created_at, id`,
    values: [userId],
  })
  for (const one of cases) {
    const missing = one.amountMicro - one.coveredMicro
    const taken = missing < left ? missing : left
    if (taken === 0n) return
    await cover(trx, one, taken)
    left -= taken
  }
}

async function cover(trx: Knex, one: Receivable, micro: bigint): Promise<void> {
  const { id, userId, ref, owed } = one
  const number = one.transfers + 1
  await postAlone(
    trx,
    owed
      ? {
          idem: `${id}:paid:${number}`,
          kind: 'credit',
          ref,
          entries: transferEntries(micro, available(userId), receivables),
        }
      : {
          idem: holdKey(id, number),
          kind: 'reserve',
          ref,
          entries: transferEntries(micro, available(userId), held(userId)),
        },
  )
  await query(trx, {
    name: 'receivables.cover',
    text: 'update receivables set covered_micro = covered_micro + $2, transfers = $3 where id = $1',
    values: [id, micro, number],
  })
}

/** The first hold has the key of the case. */
function holdKey(id: string, number: number): string {
  return number === 1 ? id : `${id}:${number}`
}

/** Ends the holds of a case: up to this amount pays what is owed, the rest is available again. Returns what was paid. */
async function payFromHolds(trx: Knex, one: Receivable, mostMicro: bigint): Promise<bigint> {
  const { id, userId, ref } = one
  let paid = 0n
  if (one.owed || one.isClosed) return paid
  for (let number = 1; number <= one.transfers; number++) {
    const key = holdKey(id, number)
    const reserved = await findTransfer(trx, key)
    const micro = reserved?.entries.find(({ account }) => account.kind === 'held')?.amount
    if (micro === undefined) throw new Error(`Nothing was reserved as ${key}`)
    const left = mostMicro - paid
    const taken = micro < left ? micro : left
    const entries: Entry[] = [
      { account: held(userId), amount: -micro },
      { account: receivables, amount: taken },
      { account: available(userId), amount: micro - taken },
    ]
    // Nothing of it is owed: a void, which its owner reads as given back.
    const kind = taken === 0n ? 'void' : 'post'
    const moved = entries.filter(({ amount }) => amount !== 0n)
    await postAlone(trx, { idem: resolutionKey(key), kind, ref, resolves: key, entries: moved })
    paid += taken
  }
  return paid
}

async function close(trx: Knex, id: string): Promise<void> {
  await query(trx, {
    name: 'receivables.close',
    text: 'update receivables set closed_at = clock_timestamp() where id = $1',
    values: [id],
  })
}

/** Opens the accounts that are missing, locks the creator's balances, and returns what is available. */
async function lockAvailable(trx: Knex, userId: string): Promise<bigint> {
  const accounts = [available(userId), held(userId)].map((account) => ({ account, amount: 0n }))
  await openAccounts(trx, accounts)
  const balances = await lockBalances(trx, userId)
  const found = balances.find(({ kind, currency }) => kind === 'available' && currency === 'USDC')
  if (found === undefined) throw new Error(`No available account of ${userId}`)
  return found.balance
}

export async function findReceivable(db: Knex, id: string): Promise<Receivable | undefined> {
  const [row] = await query<Receivable>(db, {
    name: 'receivables.find',
    text: `select ${columns} from receivables where id = $1`,
    values: [id],
  })
  return row
}

/** What creators owe and have not paid, oldest first: all of them, or one. */
export function listDebts(db: Knex, limit: number, userId?: string): Promise<Receivable[]> {
  return query<Receivable>(db, {
    name: 'receivables.debts',
    text: /* sql */ `
      select ${columns} from receivables
       where ${short} and owed and ($2::uuid is null or creator_id = $2) order by created_at, id limit $1`,
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
    text: `select exists (select from receivables where creator_id = $1 and ${short} and owed) as owes`,
    values: [userId],
  })
  return row?.owes ?? false
}

/**
 * Whether a case of a creator is not covered, as SQL: an open dispute about more than there is, or a loss that is not paid.
 * `userId`: the column with the creator. A scalar subquery, so that it filters the rows of an index and is not joined.
 */
export function isShort(userId: string): string {
  return `(select true from receivables where creator_id = ${userId} and ${short} limit 1) is not null`
}
