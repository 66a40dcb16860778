import test from 'ava'
import { platformAccount, readBalance, transferEntries } from '../../src/ledger/accounts.js'
import { credit, postReserved, postTransfer, reserve, voidReserved } from '../../src/ledger/transfers.js'
import { useWorld } from '../helpers/servers/world.js'
import {
  available,
  clearing,
  createUserWith,
  fees,
  held,
  listBrokenInvariants,
  newKey,
  pending,
  provider,
} from './support.js'

const world = useWorld(test)
const insufficientBalance = { name: 'DomainError', message: 'Insufficient Balance' }

const balanceOf = (userId: string) => readBalance(world().db, userId, 'USDC')

test('a credit opens the account and raises its balance', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 0n)
  t.deepEqual(await balanceOf(user), { available: 0n, pending: 0n, held: 0n })
  const entries = [...transferEntries(95n, clearing, available(user)), ...transferEntries(5n, provider, fees)]
  const posted = await credit(db, { key: newKey(), ref: 'tip:1', entries })
  t.false(posted.repeated)
  t.deepEqual(await balanceOf(user), { available: 95n, pending: 0n, held: 0n })
  t.deepEqual(await listBrokenInvariants(db), [])
})

test('a transfer may change currency: each sums to zero by itself', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 0n)
  const naira = (kind: 'float_ngn' | 'fx') => platformAccount(kind, 'NGN')
  const entries = [
    ...transferEntries(160_000n, naira('float_ngn'), naira('fx')),
    ...transferEntries(1_000_000n, platformAccount('fx', 'USDC'), available(user)),
  ]
  await credit(db, { key: newKey(), ref: 'fiat:1', entries })
  t.is((await balanceOf(user)).available, 1_000_000n)
})

test('a repeated key changes nothing and returns `repeated`', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 100n)
  const newTransfer = { key: newKey(), ref: 'tip:2', entries: transferEntries(7n, clearing, available(user)) }
  const first = await credit(db, newTransfer)
  const again = await credit(db, { ...newTransfer, entries: newTransfer.entries.toReversed() })
  t.deepEqual(again, { id: first.id, repeated: true })
  t.is((await balanceOf(user)).available, 107n)
})

test('a repeated reserve is a repetition also when nothing is available any more', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 100n)
  const newTransfer = { key: newKey(), ref: 'w', entries: transferEntries(100n, available(user), held(user)) }
  const { id } = await reserve(db, newTransfer)
  t.deepEqual(await reserve(db, newTransfer), { id, repeated: true })
  t.deepEqual(await balanceOf(user), { available: 0n, pending: 0n, held: 100n })
})

test('a used key with other content throws', async (t) => {
  const { db } = world()
  const [user, other] = [await createUserWith(db, 0n), await createUserWith(db, 0n)]
  const newTransfer = { key: newKey(), ref: 'tip:3', entries: transferEntries(7n, clearing, available(user)) }
  await credit(db, newTransfer)
  const changed = [
    { ...newTransfer, ref: 'tip:4' },
    { ...newTransfer, entries: transferEntries(8n, clearing, available(user)) },
    { ...newTransfer, entries: transferEntries(7n, provider, available(user)) },
    { ...newTransfer, entries: transferEntries(7n, clearing, available(other)) },
    { ...newTransfer, entries: transferEntries(7n, clearing, pending(user)) },
  ]
  for (const one of changed)
    await t.throwsAsync(credit(db, one), { message: /^Another transfer has the idem/ })
  await t.throwsAsync(reserve(db, newTransfer), { message: /^Another transfer has the idem/ })
  t.deepEqual(await balanceOf(user), { available: 7n, pending: 0n, held: 0n })
  t.is((await balanceOf(other)).available, 0n)
})

test('an overdrawn transfer is refused, and the transaction of the caller stays usable', async (t) => {
  const { db, services } = world()
  const [user, stranger] = [await createUserWith(db, 100n), await createUserWith(db, 0n)]
  await services.transact(async ({ trx }) => {
    for (const [who, units] of [
      [user, 101n],
      [stranger, 1n],
    ] as const)
      await t.throwsAsync(
        reserve(trx, {
          key: newKey(),
          ref: 'w',
          entries: transferEntries(units, available(who), held(who)),
        }),
        insufficientBalance,
      )
    await reserve(trx, {
      key: newKey(),
      ref: 'w',
      entries: transferEntries(100n, available(user), held(user)),
    })
  })
  t.deepEqual(await balanceOf(user), { available: 0n, pending: 0n, held: 100n })
  t.deepEqual(await balanceOf(stranger), { available: 0n, pending: 0n, held: 0n })
})

test('a rollback of the caller takes the transfer back too', async (t) => {
  const { db, services } = world()
  const user = await createUserWith(db, 100n)
  const newTransfer = { key: newKey(), ref: 'w', entries: transferEntries(40n, available(user), held(user)) }
  await t.throwsAsync(
    services.transact(async ({ trx }) => {
      await reserve(trx, newTransfer)
      throw new Error('the state did not move')
    }),
    { message: 'the state did not move' },
  )
  t.is((await balanceOf(user)).available, 100n)
  t.false((await reserve(db, newTransfer)).repeated)
})

test('a reserve is posted to the destination of the money', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 100n)
  const key = newKey()
  await reserve(db, { key, ref: 'w', entries: transferEntries(60n, available(user), held(user)) })
  const entries = [
    { account: held(user), amount: -60n },
    { account: provider, amount: 59n },
    { account: fees, amount: 1n },
  ]
  const posted = await postReserved(db, { key, ref: 'w', entries })
  t.false(posted.repeated)
  t.deepEqual(await postReserved(db, { key, ref: 'w', entries }), { id: posted.id, repeated: true })
  t.deepEqual(await balanceOf(user), { available: 40n, pending: 0n, held: 0n })
  t.deepEqual(await listBrokenInvariants(db), [])
})

test('a pending credit becomes available when it is posted, and disappears when it is voided', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 0n)
  const [final, gone] = [newKey(), newKey()]
  await reserve(db, { key: final, ref: 'tip:5', entries: transferEntries(60n, clearing, pending(user)) })
  await reserve(db, { key: gone, ref: 'tip:6', entries: transferEntries(30n, clearing, pending(user)) })
  t.deepEqual(await balanceOf(user), { available: 0n, pending: 90n, held: 0n })
  await postReserved(db, {
    key: final,
    ref: 'tip:5',
    entries: transferEntries(60n, pending(user), available(user)),
  })
  await voidReserved(db, gone)
  t.deepEqual(await balanceOf(user), { available: 60n, pending: 0n, held: 0n })
  t.deepEqual(await listBrokenInvariants(db), [])
})

test('a voided reserve cannot be posted, and a posted one cannot be voided', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 100n)
  const taken = transferEntries(10n, held(user), provider)
  const conflict = { message: /^Another transfer has the idem/ }
  const [voided, posted] = [newKey(), newKey()]
  for (const key of [voided, posted])
    await reserve(db, { key, ref: 'w', entries: transferEntries(10n, available(user), held(user)) })
  t.false((await voidReserved(db, voided)).repeated)
  t.true((await voidReserved(db, voided)).repeated)
  await t.throwsAsync(postReserved(db, { key: voided, ref: 'w', entries: taken }), conflict)
  await postReserved(db, { key: posted, ref: 'w', entries: taken })
  await t.throwsAsync(voidReserved(db, posted), conflict)
  t.deepEqual(await balanceOf(user), { available: 90n, pending: 0n, held: 0n })
})

test('only a reserve can be resolved, and only all of it', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 100n)
  const entries = (units: bigint) => transferEntries(units, held(user), provider)
  const unreserved = { message: /^Nothing was reserved as/ }
  await reserve(db, { key: newKey(), ref: 'w', entries: transferEntries(50n, available(user), held(user)) })
  await t.throwsAsync(postReserved(db, { key: newKey(), ref: 'w', entries: entries(10n) }), unreserved)
  await t.throwsAsync(voidReserved(db, newKey()), unreserved)

  const key = newKey()
  await reserve(db, { key, ref: 'w', entries: transferEntries(10n, available(user), held(user)) })
  for (const units of [9n, 11n])
    await t.throwsAsync(postReserved(db, { key, ref: 'w', entries: entries(units) }), {
      message: /does not take back/,
    })
  await postReserved(db, { key, ref: 'w', entries: entries(10n) })
  t.deepEqual(await balanceOf(user), { available: 40n, pending: 0n, held: 50n })
})

test('a credit can be neither posted nor voided', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 0n)
  const key = newKey()
  await credit(db, { key, ref: 'tip:7', entries: transferEntries(10n, clearing, available(user)) })
  const unreserved = { message: /^Nothing was reserved as/ }
  await t.throwsAsync(voidReserved(db, key), unreserved)
  const entries = transferEntries(10n, available(user), provider)
  await t.throwsAsync(postReserved(db, { key, ref: 'tip:7', entries }), unreserved)
  t.is((await balanceOf(user)).available, 10n)
})

test('an invalid transfer is refused before it reaches the database', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 100n)
  const bad = [
    [],
    [{ account: clearing, amount: 1n }],
    [
      { account: clearing, amount: -1n },
      { account: available(user), amount: 2n },
    ],
    [
      { account: clearing, amount: 0n },
      { account: available(user), amount: 0n },
    ],
    [...transferEntries(1n, clearing, available(user)), ...transferEntries(1n, clearing, available(user))],
    [
      { account: platformAccount('fx', 'NGN'), amount: -1n },
      { account: available(user), amount: 1n },
    ],
  ]
  for (const entries of bad)
    await t.throwsAsync(credit(db, { key: newKey(), ref: 'x', entries }), { message: /is no transfer/ })
})

test('a posting is one round trip', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 100n)
  await reserve(db, { key: newKey(), ref: 'w', entries: transferEntries(1n, available(user), held(user)) })
  await db.transaction(async (trx) => {
    const connection = await trx.client.acquireConnection()
    const ask = connection.query
    let trips = 0
    connection.query = (...args: unknown[]) => {
      trips += 1
      return ask.apply(connection, args)
    }
    await postTransfer(trx, {
      idem: newKey(),
      kind: 'reserve',
      ref: 'w',
      entries: transferEntries(1n, available(user), held(user)),
    })
    connection.query = ask
    t.is(trips, 1)
  })
})

test('a posting is planned once per connection', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 100n)
  await db.transaction(async (trx) => {
    for (let i = 0; i < 20; i++)
      await reserve(trx, {
        key: newKey(),
        ref: 'w',
        entries: transferEntries(1n, available(user), held(user)),
      })
    const { rows } = await trx.raw(
      `select custom_plans, generic_plans from pg_prepared_statements where name = 'ledger.post'`,
    )
    t.true(
      rows[0].generic_plans >= 15n,
      JSON.stringify(rows[0], (_, value) => String(value)),
    )
  })
})
