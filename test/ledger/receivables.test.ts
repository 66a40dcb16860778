import test from 'ava'
import { lockBalances, platformAccount, readBalance, transferEntries } from '../../src/ledger/accounts.js'
import { freePending, releasePending, reserveMany } from '../../src/ledger/bulk-transfers.js'
import { findTransfer } from '../../src/ledger/post-statement.js'
import {
  findReceivable,
  isShort,
  isWrittenOff,
  listDebts,
  owesReceivable,
  readClaims,
} from '../../src/ledger/receivables/read-receivables.js'
import {
  collectReceivable,
  endReceivable,
  freeReceivable,
  holdReceivable,
  spendOwing,
  writeOffReceivable,
} from '../../src/ledger/receivables/receivables.js'
import { credit, reserve, voidReserved, voidToReserve } from '../../src/ledger/transfers.js'
import { until } from '../helpers/until.js'
import {
  available,
  clearing,
  createUserWith,
  listBrokenInvariants,
  newKey,
  pending,
  useLedger,
} from './support.js'

const ledger = useLedger(test)

test.afterEach.always('the books hold', async (t) => {
  t.deepEqual(await listBrokenInvariants(ledger().db), [])
})

const owed = platformAccount('receivables', 'USDC')
const balanceOf = (userId: string) => readBalance(ledger().db, userId, 'USDC')

type Trx = Parameters<typeof collectReceivable>[0]

/** What the provider takes is posted against `receivables`, and collected. */
async function loseIn(trx: Trx, id: string, userId: string, amountMicro: bigint): Promise<void> {
  const entries = transferEntries(amountMicro, owed, platformAccount('fx', 'USDC'))
  await credit(trx, { key: `${id}:returned`, ref: 'tip', entries })
  await collectReceivable(trx, { id, userId, ref: 'tip', amountMicro })
}

const lose = (id: string, userId: string, amountMicro: bigint) =>
  ledger().transact(({ trx }) => loseIn(trx, id, userId, amountMicro))

/** It was no loss after all: what was paid goes back to the creator. */
async function endIn(trx: Trx, id: string, userId: string) {
  const ended = await endReceivable(trx, id)
  const entries = [
    { account: platformAccount('fx', 'USDC'), amount: -ended.paidMicro - ended.openMicro },
    { account: owed, amount: ended.openMicro },
    { account: available(userId), amount: ended.paidMicro },
  ].filter(({ amount }) => amount !== 0n)
  if (entries.length > 0) await credit(trx, { key: `${id}:ended`, ref: 'tip', entries })
  return ended
}

async function pendingTips(users: readonly string[], micro: bigint): Promise<string[]> {
  const tips = users.map((userId) => ({
    key: newKey(),
    ref: 'tip',
    entries: transferEntries(micro, clearing, pending(userId)),
  }))
  await ledger().transact(({ trx }) => reserveMany(trx, tips))
  return tips.map(({ key }) => key)
}

test.serial('tips that become available in bulk pay what is owed, and hold what may be lost', async (t) => {
  const { db, transact } = ledger()
  const [debtor, disputed, other] = [
    await createUserWith(db, 5n),
    await createUserWith(db, 5n),
    await createUserWith(db, 5n),
  ]
  const id = newKey()
  await lose(id, debtor, 100n)
  t.true(await owesReceivable(db, debtor))
  const hold = newKey()
  await transact(({ trx }) =>
    holdReceivable(trx, { id: hold, userId: disputed, ref: 'tip', amountMicro: 50n }),
  )
  const keys = await pendingTips([debtor, debtor, disputed, other], 40n)
  await transact(({ trx }) => releasePending(trx, keys))
  t.like(await balanceOf(debtor), { available: 0n, held: 0n })
  t.like(await findReceivable(db, id), { coveredMicro: 85n, amountMicro: 100n })
  t.like(await balanceOf(disputed), { available: 0n, held: 45n })
  t.like(await balanceOf(other), { available: 45n, held: 0n })

  await credit(db, {
    key: newKey(),
    ref: 'tip',
    entries: transferEntries(40n, clearing, available(debtor)),
  })
  t.like(await balanceOf(debtor), { available: 25n })
  t.false(await owesReceivable(db, debtor))
  await transact(({ trx }) => freeReceivable(trx, hold))
  t.like(await balanceOf(disputed), { available: 45n, held: 0n })
})

test.serial('cases are covered in order: what is owed, then what may be lost, oldest first', async (t) => {
  const { db, transact } = ledger()
  const user = await createUserWith(db, 0n)
  const [hold, first, second] = [newKey(), newKey(), newKey()]
  await transact(({ trx }) => holdReceivable(trx, { id: hold, userId: user, ref: 'tip', amountMicro: 10n }))
  await lose(first, user, 10n)
  await lose(second, user, 10n)
  const covered = async () =>
    Promise.all([first, second, hold].map(async (id) => (await findReceivable(db, id))?.coveredMicro))
  const tip = () =>
    credit(db, { key: newKey(), ref: 'tip', entries: transferEntries(12n, clearing, available(user)) })
  await tip()
  t.deepEqual(await covered(), [10n, 2n, 0n])
  await tip()
  t.deepEqual(await covered(), [10n, 10n, 4n])
  // The dispute is lost as well: what was held pays it.
  await lose(hold, user, 10n)
  t.deepEqual(await covered(), [10n, 10n, 4n])
  t.like(await balanceOf(user), { available: 0n, held: 0n })
  await tip()
  t.deepEqual(await covered(), [10n, 10n, 10n])
  t.like(await balanceOf(user), { available: 6n, held: 0n })
})

test.serial('a loss and a credit at the same time leave nothing available that is owed', async (t) => {
  const { db, transact } = ledger()
  for (let round = 0; round < 20; round++) {
    const user = await createUserWith(db, 0n)
    const id = newKey()
    const keys = await pendingTips([user], 60n)
    await Promise.all([
      lose(id, user, 100n),
      transact(({ trx }) => releasePending(trx, keys)),
      credit(db, { key: newKey(), ref: 'tip', entries: transferEntries(60n, clearing, available(user)) }),
    ])
    t.like(await balanceOf(user), { available: 20n, held: 0n })
    t.like(await findReceivable(db, id), { coveredMicro: 100n })
  }
})

const earn = (userId: string, micro: bigint) =>
  credit(ledger().db, {
    key: newKey(),
    ref: 'tip',
    entries: transferEntries(micro, clearing, available(userId)),
  })
const holdUpTo = (id: string, userId: string, amountMicro: bigint) =>
  ledger().transact(({ trx }) => holdReceivable(trx, { id, userId, ref: 'tip', amountMicro }))
const free = (id: string) => ledger().transact(({ trx }) => freeReceivable(trx, id))
/** Whether SQL of a case holds, whose column is given. */
async function holdsSql(condition: string, value: string): Promise<boolean> {
  const { rows } = await ledger().db.raw(
    `select ${condition.replaceAll('$1', '?')} as holds`,
    [...condition.matchAll(/\$1/g)].map(() => value),
  )
  return rows[0].holds
}

test.serial('a hold grows, sets nothing aside twice, and ends once', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 100n)
  const id = newKey()
  await free(id)
  await holdUpTo(id, user, 10n)
  for (const amountMicro of [10n, 4n]) await holdUpTo(id, user, amountMicro)
  t.like(await balanceOf(user), { available: 90n, held: 10n })
  await holdUpTo(id, user, 25n)
  t.like(await findReceivable(db, id), {
    userId: user,
    ref: 'tip',
    amountMicro: 25n,
    coveredMicro: 25n,
    transfers: 2,
    owed: false,
    isClosed: false,
  })
  t.like(await balanceOf(user), { available: 75n, held: 25n })
  t.deepEqual(await readClaims(db, user), { owed: 0n, disputed: 25n })
  t.false(await owesReceivable(db, user))
  for (const key of [id, `${id}:2`]) t.like(await findTransfer(db, key), { kind: 'reserve' })
  await free(id)
  await free(id)
  t.like(await findTransfer(db, `${id}:resolve`), { kind: 'void' }, 'its owner reads that it was given back')
  t.like(await balanceOf(user), { available: 100n, held: 0n })
  t.deepEqual(await readClaims(db, user), { owed: 0n, disputed: 0n })
  await holdUpTo(id, user, 50n)
  t.like(await findReceivable(db, id), { amountMicro: 25n, isClosed: true })
  t.like(await balanceOf(user), { available: 100n, held: 0n })
})

test.serial('what was set aside pays what is owed, and the rest is available again', async (t) => {
  const { db, transact } = ledger()
  const user = await createUserWith(db, 15n)
  const id = newKey()
  await holdUpTo(id, user, 10n)
  await holdUpTo(id, user, 40n)
  t.like(await balanceOf(user), { available: 0n, held: 15n })
  t.false(await owesReceivable(db, user))
  await lose(id, user, 12n)
  t.like(await findTransfer(db, `${id}:resolve`), { kind: 'post' })
  t.like(await balanceOf(user), { available: 3n, held: 0n })
  t.like(await findReceivable(db, id), { owed: true, amountMicro: 12n, coveredMicro: 12n })
  await earn(user, 5n)
  await free(id)
  await holdUpTo(id, user, 90n)
  t.like(await balanceOf(user), { available: 8n, held: 0n })
  t.is(await transact(({ trx }) => writeOffReceivable(trx, id)), 0n)
  t.like(await findReceivable(db, id), { owed: true, amountMicro: 12n, isClosed: false })
})

test.serial('what was set aside for nothing pays another debt first', async (t) => {
  const user = await createUserWith(ledger().db, 10n)
  const [hold, debt] = [newKey(), newKey()]
  await holdUpTo(hold, user, 10n)
  await lose(debt, user, 4n)
  t.like(await balanceOf(user), { available: 0n, held: 10n })
  await free(hold)
  t.like(await balanceOf(user), { available: 6n, held: 0n })
  t.like(await findReceivable(ledger().db, debt), { coveredMicro: 4n })
})

test.serial('what is spent beyond the balance is lent, and owed', async (t) => {
  const { db, transact } = ledger()
  const user = await createUserWith(db, 30n)
  const spend = (amountMicro: bigint, id = newKey()) =>
    transact(({ trx }) =>
      spendOwing(trx, { id, userId: user, ref: 'w', amountMicro }, () =>
        credit(trx, {
          key: newKey(),
          ref: 'w',
          entries: transferEntries(amountMicro, available(user), clearing),
        }),
      ),
    )
  t.is(await spend(10n), 0n)
  t.is(await spend(20n), 0n)
  t.like(await balanceOf(user), { available: 0n })
  t.false(await owesReceivable(db, user))
  const id = newKey()
  t.is(await spend(70n, id), 70n)
  t.deepEqual(await readClaims(db, user), { owed: 70n, disputed: 0n })
  await earn(user, 100n)
  t.like(await balanceOf(user), { available: 30n })
  t.like(await findReceivable(db, id), { ref: 'w', amountMicro: 70n, coveredMicro: 70n })
  const other = newKey()
  t.is(await spend(31n, other), 1n)
  t.like(await findReceivable(db, other), { amountMicro: 1n, coveredMicro: 0n })
})

test.serial('a debt is listed until it is paid, written off or ended', async (t) => {
  const { db, transact } = ledger()
  const [ada, bob] = [await createUserWith(db, 20n), await createUserWith(db, 0n)]
  const [first, second, hold] = [newKey(), newKey(), newKey()]
  const writeOff = (id: string) => transact(({ trx }) => writeOffReceivable(trx, id))
  const debts = async (limit: number, userId?: string) =>
    (await listDebts(db, limit, userId)).map(({ id }) => id)
  const ours = async () => (await debts(100)).filter((id) => id === first || id === second).toSorted()
  await lose(first, ada, 70n)
  await lose(second, bob, 5n)
  await holdUpTo(hold, bob, 9n)
  t.deepEqual(await ours(), [first, second].toSorted())
  t.deepEqual(await debts(100, bob), [second])
  t.is((await debts(1)).length, 1)
  t.deepEqual(await readClaims(db, ada), { owed: 50n, disputed: 0n })
  t.deepEqual(await readClaims(db, bob), { owed: 5n, disputed: 9n })
  t.true(await holdsSql(isShort('$1'), ada))

  t.is(await writeOff(newKey()), 0n)
  t.is(await writeOff(hold), 0n)
  t.false(await holdsSql(isWrittenOff('$1'), first))
  t.is(await writeOff(first), 50n)
  t.is(await writeOff(first), 0n)
  t.true(await holdsSql(isWrittenOff('$1'), first))
  t.false(await holdsSql(isShort('$1'), ada))
  t.false(await owesReceivable(db, ada))
  await earn(ada, 1n)
  t.like(await balanceOf(ada), { available: 1n })

  const end = (id: string, userId: string) => transact(({ trx }) => endIn(trx, id, userId))
  t.deepEqual(await end(newKey(), ada), { paidMicro: 0n, openMicro: 0n })
  t.deepEqual(await end(first, ada), { paidMicro: 20n, openMicro: 50n })
  t.false(await holdsSql(isWrittenOff('$1'), first))
  t.like(await balanceOf(ada), { available: 21n })
  t.deepEqual(await end(second, bob), { paidMicro: 0n, openMicro: 5n })
  await earn(bob, 10n)
  t.like(await balanceOf(bob), { available: 1n, held: 9n })
  t.deepEqual(await ours(), [])
})

test.serial('what is set aside again covers nothing meanwhile', async (t) => {
  const { db, transact } = ledger()
  const [ada, bob] = [await createUserWith(db, 0n), await createUserWith(db, 10n)]
  const earlier = { key: newKey(), ref: 'tip', entries: transferEntries(10n, clearing, available(ada)) }
  await credit(db, earlier)
  const keys: string[] = []
  for (const userId of [ada, bob]) {
    const key = newKey()
    await reserve(db, { key, ref: 'w', entries: transferEntries(10n, available(userId), pending(userId)) })
    await lose(newKey(), userId, 4n)
    keys.push(key)
  }
  const [first = '', second = ''] = keys
  await voidToReserve(db, first)
  await credit(db, earlier)
  t.like(await balanceOf(ada), { available: 10n, pending: 0n }, 'a repetition covers nothing, too')
  await voidReserved(db, second)
  t.like(await balanceOf(bob), { available: 6n, pending: 0n })
  const [tip] = await pendingTips([ada], 5n)
  await transact(({ trx }) => freePending(trx, [tip ?? '']))
  t.like(await balanceOf(ada), { available: 15n, pending: 0n })
  await earn(ada, 1n)
  t.like(await balanceOf(ada), { available: 12n })
})

test.serial('a case that is owed or closed is not collected again', async (t) => {
  const { db, transact } = ledger()
  const user = await createUserWith(db, 10n)
  const [debt, hold] = [newKey(), newKey()]
  await holdUpTo(hold, user, 4n)
  await free(hold)
  await lose(debt, user, 12n)
  for (const id of [debt, hold])
    await transact(({ trx }) => collectReceivable(trx, { id, userId: user, ref: 'else', amountMicro: 90n }))
  t.like(await findReceivable(db, debt), { amountMicro: 12n, coveredMicro: 10n, isClosed: false })
  t.like(await findReceivable(db, hold), { amountMicro: 4n, owed: false, isClosed: true })
})

test.serial('a change of a case sees what was committed while it waited', async (t) => {
  const { db, transact } = ledger()
  /** Begins the second change before the first is committed. */
  async function inTurn<Result>(
    first: (trx: Trx) => Promise<unknown>,
    second: (trx: Trx) => Promise<Result>,
    meanwhile?: (trx: Trx) => Promise<unknown>,
  ) {
    let changing: Promise<Result> | undefined
    let ended = false
    await db.transaction(async (trx) => {
      await first(trx)
      const { rows } = await trx.raw('select pg_backend_pid() as pid')
      changing = transact((other) => second(other.trx)).finally(() => {
        ended = true
      })
      const waiting = 'select from pg_stat_activity where ? = any(pg_blocking_pids(pid))'
      await until('it waits', async () => ended || (await db.raw(waiting, [rows[0].pid])).rows.length > 0)
      await meanwhile?.(trx)
    })
    return changing
  }
  const heldCase = async () => {
    const one = { id: newKey(), userId: await createUserWith(db, 20n), ref: 'tip', amountMicro: 5n }
    await holdUpTo(one.id, one.userId, 5n)
    const grow = (trx: Trx) => holdReceivable(trx, { ...one, amountMicro: 9n })
    return { ...one, grow, free: (trx: Trx) => freeReceivable(trx, one.id) }
  }
  const freed = await heldCase()
  await inTurn(freed.grow, freed.free)
  t.like(await balanceOf(freed.userId), { available: 20n, held: 0n })
  const lost = await heldCase()
  await inTurn(lost.grow, (trx) => loseIn(trx, lost.id, lost.userId, 6n))
  t.like(await balanceOf(lost.userId), { available: 14n, held: 0n })
  t.like(await findReceivable(db, lost.id), { amountMicro: 6n, coveredMicro: 6n, owed: true })
  const late = await heldCase()
  await inTurn((trx) => loseIn(trx, late.id, late.userId, 5n), late.grow)
  t.like(await findReceivable(db, late.id), { amountMicro: 5n, owed: true })
  const over = await heldCase()
  await inTurn(over.free, over.grow)
  t.like(await findReceivable(db, over.id), { amountMicro: 5n, isClosed: true })
  const kept = await heldCase()
  await inTurn(
    (trx) => lockBalances(trx, kept.userId),
    kept.grow,
    async (trx) => {
      const { rows } = await trx.raw('select from receivables where id = ? for update skip locked', [kept.id])
      t.is(rows.length, 1, 'who waits for the balances has not locked the case: two would deadlock')
    },
  )

  const debt = async () => {
    const [id, userId] = [newKey(), await createUserWith(db, 20n)]
    await lose(id, userId, 70n)
    const tip = { key: newKey(), ref: 'tip', entries: transferEntries(5n, clearing, available(userId)) }
    return { id, userId, pay: (trx: Trx) => credit(trx, tip) }
  }
  const given = await debt()
  t.is(await inTurn(given.pay, (trx) => writeOffReceivable(trx, given.id)), 45n)
  const ended = await debt()
  t.deepEqual(await inTurn(ended.pay, (trx) => endIn(trx, ended.id, ended.userId)), {
    paidMicro: 25n,
    openMicro: 45n,
  })
})
