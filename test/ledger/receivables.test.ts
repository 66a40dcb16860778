import test from 'ava'
import { platformAccount, readBalance, transferEntries } from '../../src/ledger/accounts.js'
import { releasePending, reserveMany } from '../../src/ledger/bulk-transfers.js'
import { findReceivable, owesReceivable } from '../../src/ledger/receivables/read-receivables.js'
import {
  collectReceivable,
  freeReceivable,
  holdReceivable,
} from '../../src/ledger/receivables/receivables.js'
import { credit } from '../../src/ledger/transfers.js'
import { useWorld } from '../helpers/servers/world.js'
import { available, clearing, createUserWith, listBrokenInvariants, newKey, pending } from './support.js'

const world = useWorld(test)

test.afterEach.always('the books hold', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

const owed = platformAccount('receivables', 'USDC')
const balanceOf = (userId: string) => readBalance(world().db, userId, 'USDC')

/** What the provider takes is posted against `receivables`, and collected. */
async function lose(id: string, userId: string, amountMicro: bigint): Promise<void> {
  await world().services.transact(async ({ trx }) => {
    const entries = transferEntries(amountMicro, owed, platformAccount('fx', 'USDC'))
    await credit(trx, { key: `${id}:returned`, ref: 'tip', entries })
    await collectReceivable(trx, { id, userId, ref: 'tip', amountMicro })
  })
}

async function pendingTips(users: readonly string[], micro: bigint): Promise<string[]> {
  const tips = users.map((userId) => ({
    key: newKey(),
    ref: 'tip',
    entries: transferEntries(micro, clearing, pending(userId)),
  }))
  await world().services.transact(({ trx }) => reserveMany(trx, tips))
  return tips.map(({ key }) => key)
}

test.serial('tips that become available in bulk pay what is owed, and hold what may be lost', async (t) => {
  const { db, services } = world()
  const [debtor, disputed, other] = [
    await createUserWith(db, 5n),
    await createUserWith(db, 5n),
    await createUserWith(db, 5n),
  ]
  const id = newKey()
  await lose(id, debtor, 100n)
  t.true(await owesReceivable(db, debtor))
  const hold = newKey()
  await services.transact(({ trx }) =>
    holdReceivable(trx, { id: hold, userId: disputed, ref: 'tip', amountMicro: 50n }),
  )
  const keys = await pendingTips([debtor, debtor, disputed, other], 40n)
  await services.transact(({ trx }) => releasePending(trx, keys))
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
  await services.transact(({ trx }) => freeReceivable(trx, hold))
  t.like(await balanceOf(disputed), { available: 45n, held: 0n })
})

test.serial('cases are covered in order: what is owed, then what may be lost, oldest first', async (t) => {
  const { db, services } = world()
  const user = await createUserWith(db, 0n)
  const [hold, first, second] = [newKey(), newKey(), newKey()]
  await services.transact(({ trx }) =>
    holdReceivable(trx, { id: hold, userId: user, ref: 'tip', amountMicro: 10n }),
  )
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
  const { db, services } = world()
  for (let round = 0; round < 20; round++) {
    const user = await createUserWith(db, 0n)
    const id = newKey()
    const keys = await pendingTips([user], 60n)
    await Promise.all([
      lose(id, user, 100n),
      services.transact(({ trx }) => releasePending(trx, keys)),
      credit(db, { key: newKey(), ref: 'tip', entries: transferEntries(60n, clearing, available(user)) }),
    ])
    t.like(await balanceOf(user), { available: 20n, held: 0n })
    t.like(await findReceivable(db, id), { coveredMicro: 100n })
  }
})
