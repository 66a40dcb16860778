import type { Knex } from 'knex'
import { query, write } from '../../platform/database/database.js'
import { type Entry, lockBalances, platformAccount, transferEntries, userAccount } from '../accounts.js'
import { findTransfer, openAccounts, postAlone, resolutionKey } from '../post-statement.js'
import {
  findReceivable,
  type NewReceivable,
  type Receivable,
  receivableColumns,
  uncovered,
  undoEnding,
  writeOffEnding,
} from './read-receivables.js'

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
  await write(trx, {
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
  await write(trx, {
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
  await postAlone(trx, { idem: `${id}${writeOffEnding}`, kind: 'credit', ref, entries })
  await close(trx, id)
  return openMicro
}

/** Takes the write-off of a case back, if there was one: the creator owes the amount again. */
async function undoWriteOff(trx: Knex, id: string): Promise<void> {
  const done = await findTransfer(trx, `${id}${writeOffEnding}`)
  if (done === undefined) return
  const entries = done.entries.map(({ account, amount }) => ({ account, amount: -amount }))
  await postAlone(trx, { idem: `${id}${undoEnding}`, kind: 'credit', ref: done.ref, entries })
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
      select distinct creator_id as "userId" from receivables where creator_id = any($1::uuid[]) and ${uncovered} order by 1`,
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
    text: `select ${receivableColumns} from receivables where creator_id = $1 and ${uncovered} order by owed desc, created_at, id`,
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
  await write(trx, {
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
  await write(trx, {
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
