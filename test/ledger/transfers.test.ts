import test from 'ava'
import {
  accountKey,
  lockBalances,
  lockBalancesOf,
  platformAccount,
  readBalance,
  transferEntries,
  userAccount,
} from '../../src/ledger/accounts.js'
import { freePending, releasePending, reserveMany } from '../../src/ledger/bulk-transfers.js'
import { findReserved, findTransfer } from '../../src/ledger/post-statement.js'
import { credit, postReserved, postTransfer, reserve, voidReserved } from '../../src/ledger/transfers.js'
import { until } from '../helpers/until.js'
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
  useLedger,
} from './support.js'

const ledger = useLedger(test)
const insufficientBalance = { name: 'DomainError', message: 'Insufficient Balance' }

const balanceOf = (userId: string) => readBalance(ledger().db, userId, 'USDC')

test('a credit opens the account and raises its balance', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 0n)
  t.deepEqual(await balanceOf(user), { available: 0n, pending: 0n, held: 0n })
  const entries = [...transferEntries(95n, clearing, available(user)), ...transferEntries(5n, provider, fees)]
  const posted = await credit(db, { key: newKey(), ref: 'tip:1', entries })
  t.false(posted.repeated)
  t.deepEqual(await balanceOf(user), { available: 95n, pending: 0n, held: 0n })
  t.deepEqual(await listBrokenInvariants(db), [])
})

test('a transfer may change currency: each sums to zero by itself', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 0n)
  const naira = (kind: 'float_ngn' | 'fx') => platformAccount(kind, 'NGN')
  const entries = [
    ...transferEntries(160_000n, naira('float_ngn'), naira('fx')),
    ...transferEntries(1_000_000n, platformAccount('fx', 'USDC'), available(user)),
  ]
  await credit(db, { key: newKey(), ref: 'fiat:1', entries })
  t.is((await balanceOf(user)).available, 1_000_000n)
})

test('each currency of a user has balances of its own', async (t) => {
  const { db, transact } = ledger()
  const user = await createUserWith(db, 7n)
  const naira = userAccount(user, 'available', 'NGN')
  const entries = transferEntries(5n, platformAccount('fx', 'NGN'), naira)
  await credit(db, { key: newKey(), ref: 'fiat', entries })
  await credit(db, { key: newKey(), ref: 'tip', entries: transferEntries(1n, clearing, available(user)) })
  t.deepEqual(await readBalance(db, user, 'NGN'), { available: 5n, pending: 0n, held: 0n })
  t.deepEqual(await balanceOf(user), { available: 8n, pending: 0n, held: 0n })
  t.deepEqual(await transact(({ trx }) => lockBalances(trx, user)), [
    { kind: 'available', currency: 'USDC', balance: 8n },
    { kind: 'available', currency: 'NGN', balance: 5n },
  ])
})

test('an account is the same in upper and lower case', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 0n)
  const upper = available(user.toUpperCase())
  t.is(accountKey(upper), accountKey(available(user)))
  t.not(accountKey(upper), accountKey(held(user)))
  t.is(accountKey(clearing), 'platform custody_wallets USDC')
  const key = newKey()
  await credit(db, { key, ref: 'tip', entries: transferEntries(7n, clearing, available(user)) })
  t.true((await credit(db, { key, ref: 'tip', entries: transferEntries(7n, clearing, upper) })).repeated)
})

test('a repeated key changes nothing and returns `repeated`', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 100n)
  const newTransfer = { key: newKey(), ref: 'tip:2', entries: transferEntries(7n, clearing, available(user)) }
  const first = await credit(db, newTransfer)
  const again = await credit(db, { ...newTransfer, entries: newTransfer.entries.toReversed() })
  t.deepEqual(again, { id: first.id, repeated: true })
  t.is((await balanceOf(user)).available, 107n)
})

test('a repeated reserve is a repetition also when nothing is available any more', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 100n)
  const newTransfer = { key: newKey(), ref: 'w', entries: transferEntries(100n, available(user), held(user)) }
  const { id } = await reserve(db, newTransfer)
  t.deepEqual(await reserve(db, newTransfer), { id, repeated: true })
  t.deepEqual(await balanceOf(user), { available: 0n, pending: 0n, held: 100n })
})

test('a used key with other content throws', async (t) => {
  const { db } = ledger()
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
  const { db, transact } = ledger()
  const [user, stranger] = [await createUserWith(db, 100n), await createUserWith(db, 0n)]
  await transact(async ({ trx }) => {
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
  const { db, transact } = ledger()
  const user = await createUserWith(db, 100n)
  const newTransfer = { key: newKey(), ref: 'w', entries: transferEntries(40n, available(user), held(user)) }
  await t.throwsAsync(
    transact(async ({ trx }) => {
      await reserve(trx, newTransfer)
      throw new Error('the state did not move')
    }),
    { message: 'the state did not move' },
  )
  t.is((await balanceOf(user)).available, 100n)
  t.false((await reserve(db, newTransfer)).repeated)
})

test('a reserve is posted to the destination of the money', async (t) => {
  const { db } = ledger()
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
  await t.throwsAsync(
    postTransfer(db, { idem: `${key}:resolve`, kind: 'post', ref: 'w', resolves: newKey(), entries }),
    { message: /^Another transfer has the idem/ },
  )
  t.deepEqual(await balanceOf(user), { available: 40n, pending: 0n, held: 0n })
  t.deepEqual(await listBrokenInvariants(db), [])
})

test('a pending credit becomes available when it is posted, and disappears when it is voided', async (t) => {
  const { db } = ledger()
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
  const { db } = ledger()
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
  const { db } = ledger()
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
  const { db } = ledger()
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
  const { db } = ledger()
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
    [...transferEntries(1n, clearing, available(user)), { account: fees, amount: 0n }],
    [
      ...transferEntries(1n, clearing, available(user)),
      { account: platformAccount('fx', 'NGN'), amount: 1n },
    ],
  ]
  for (const entries of bad)
    await t.throwsAsync(credit(db, { key: newKey(), ref: 'x', entries }), { message: /is no transfer/ })
})

test('a posting is one round trip', async (t) => {
  const { db } = ledger()
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
  const { db } = ledger()
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

test('a transfer is found as it was posted', async (t) => {
  const { db } = ledger()
  const user = await createUserWith(db, 100n)
  const key = newKey()
  const reserved = transferEntries(10n, available(user), held(user))
  const taken = transferEntries(10n, held(user), provider)
  const byAmount = (transfer: Awaited<ReturnType<typeof findTransfer>>) =>
    transfer && {
      ...transfer,
      entries: transfer.entries.toSorted((a, b) => Number(a.amount - b.amount)),
    }
  const { id } = await reserve(db, { key, ref: 'w', entries: reserved })
  const posted = await postReserved(db, { key, ref: 'w2', entries: taken })
  t.deepEqual(byAmount(await findTransfer(db, key)), {
    id,
    idem: key,
    kind: 'reserve',
    ref: 'w',
    entries: reserved,
  })
  t.deepEqual(byAmount(await findTransfer(db, `${key}:resolve`)), {
    id: posted.id,
    idem: `${key}:resolve`,
    kind: 'post',
    ref: 'w2',
    resolves: key,
    entries: taken,
  })
  t.is(await findTransfer(db, newKey()), undefined)
})

test('many reserves are posted at once, released at once, and a repetition changes nothing', async (t) => {
  const { db, transact } = ledger()
  const [ada, bob] = [await createUserWith(db, 0n), await createUserWith(db, 0n)]
  const reserves = Array.from({ length: 300 }, (_, n) => ({
    key: newKey(),
    ref: `tip:${n}`,
    entries: transferEntries(BigInt(n + 1), clearing, pending(n < 100 ? ada : bob)),
  }))
  const keys = reserves.map(({ key }) => key)
  const [first, second, ...others] = reserves
  if (first === undefined || second === undefined) throw new Error('there are 300')
  const post = (given: typeof reserves) => transact(({ trx }) => reserveMany(trx, given))
  await post([second, first])
  await post(others)
  await post([first])
  // 256 in one statement, in an order that does not depend on the caller: two that post the same cannot deadlock.
  const sorted = others.map(({ key }) => key).toSorted()
  const { rows } = await db.raw('select idem from ledger_transfers where idem = any(?) order by id', [sorted])
  const posted: string[] = rows.map(({ idem }: { idem: string }) => idem)
  t.deepEqual(posted.slice(0, 256).toSorted(), sorted.slice(0, 256))
  t.deepEqual(await balanceOf(ada), { available: 0n, pending: 5050n, held: 0n })
  t.deepEqual(await balanceOf(bob), { available: 0n, pending: 40_100n, held: 0n })
  for (const changed of [
    { ...first, ref: 'else' },
    { ...first, entries: transferEntries(2n, clearing, pending(ada)) },
  ])
    await t.throwsAsync(post([changed]), { message: /^Another transfer has the idem/ })
  await t.throwsAsync(post([{ ...first, key: newKey(), entries: [] }]), { message: /is no transfer/ })
  await t.throwsAsync(
    post([{ ...first, key: newKey(), entries: transferEntries(1n, available(ada), clearing) }]),
    { message: /ledger_accounts_balance_check/ },
  )

  const release = async (given: readonly string[]) =>
    [...(await transact(({ trx }) => releasePending(trx, given)))].toSorted()
  t.deepEqual(await release([...keys, newKey()]), [ada, bob].toSorted())
  t.deepEqual(await release(keys.slice(0, 1)), [ada])
  t.deepEqual(await release([]), [])
  t.deepEqual(await balanceOf(ada), { available: 5050n, pending: 0n, held: 0n })
  t.deepEqual(await balanceOf(bob), { available: 40_100n, pending: 0n, held: 0n })
  t.like(await findTransfer(db, `${keys[0]}:resolve`), { kind: 'post', ref: 'tip:0', resolves: keys[0] })
  t.deepEqual(await listBrokenInvariants(db), [])
})

test('only what a reserve put into a pending account is released', async (t) => {
  const { db, transact } = ledger()
  const user = await createUserWith(db, 100n)
  const [tip, hold, final] = [newKey(), newKey(), newKey()]
  await reserve(db, { key: tip, ref: 'tip', entries: transferEntries(5n, clearing, pending(user)) })
  await reserve(db, { key: hold, ref: 'w', entries: transferEntries(6n, available(user), held(user)) })
  await credit(db, { key: final, ref: 'tip', entries: transferEntries(7n, clearing, pending(user)) })
  const reserved = [{ idem: tip, ref: 'tip', userId: user, currency: 'USDC', amount: 5n }] as const
  t.deepEqual(await findReserved(db, [tip, hold, final]), [...reserved])
  t.deepEqual(await findReserved(db, []), [])
  t.deepEqual(await transact(({ trx }) => freePending(trx, [tip, hold, final])), [...reserved])
  t.deepEqual(await balanceOf(user), { available: 99n, pending: 7n, held: 6n })
  const other = await createUserWith(db, 0n)
  const given = transferEntries(2n, pending(user), pending(other))
  await transact(({ trx }) => reserveMany(trx, [{ key: newKey(), ref: 'tip', entries: given }]))
  t.like(await balanceOf(other), { pending: 2n })
  // What a reserve takes out of a pending account, such as the share of a refund, is not released.
  const refund = newKey()
  await reserve(db, { key: refund, ref: 'refund', entries: transferEntries(5n, pending(user), held(user)) })
  t.deepEqual(await findReserved(db, [refund]), [])
})

test('locked balances are not posted to until the transaction ends', async (t) => {
  const { db } = ledger()
  const ada = await createUserWith(db, 1n)
  const tip = { ref: 'tip', entries: transferEntries(1n, clearing, available(ada)) }
  for (const lock of [
    lockBalances,
    (trx: Parameters<typeof lockBalancesOf>[0]) => lockBalancesOf(trx, [ada]),
  ])
    await db.transaction(async (trx) => {
      await lock(trx, ada)
      const impatient = db.transaction(async (other) => {
        await other.raw(`set local lock_timeout = '50ms'`)
        await credit(other, { ...tip, key: newKey() })
      })
      await t.throwsAsync(impatient, { message: /lock timeout/ })
    })
  t.is((await balanceOf(ada)).available, 1n)
})

test('many reserves lock all their accounts, in the order of the ids, before they post', async (t) => {
  const { db, transact } = ledger()
  const [first, second] = [await createUserWith(db, 1n), await createUserWith(db, 1n)]
  const into = (user: string) => ({
    key: newKey(),
    ref: 'tip',
    entries: transferEntries(1n, clearing, available(user)),
  })
  const reserves = [into(second), into(first)]
  let posting: Promise<void> | undefined
  await db.transaction(async (trx) => {
    await lockBalances(trx, first)
    posting = transact((other) => reserveMany(other.trx, reserves))
    const { rows: holder } = await trx.raw('select pg_backend_pid() as pid')
    await until('it waits for the first account', async () => {
      const waiting = 'select from pg_stat_activity where ? = any(pg_blocking_pids(pid))'
      return (await db.raw(waiting, [holder[0].pid])).rows.length > 0
    })
    const { rows } = await trx.raw('select from ledger_accounts where user_id = ? for update skip locked', [
      second,
    ])
    t.is(rows.length, 1, 'the second account is free')
  })
  await posting
  t.is((await balanceOf(second)).available, 2n)
})
