import { randomBytes } from 'node:crypto'
import test from 'ava'
import { stressLedger } from '../../scripts/bench/ledger/stress.js'
import { readBalance, transferEntries } from '../../src/ledger/accounts.js'
import { credit, postReserved, reserve, voidReserved } from '../../src/ledger/transfers.js'
import {
  available,
  clearing,
  connectLedger,
  createUserWith,
  held,
  listBrokenInvariants,
  newKey,
  provider,
  useLedger,
} from './support.js'

const ledger = useLedger(test)
const connections = 20

/** A pool with enough connections for real races. */
async function withPool(work: (pool: ReturnType<typeof connectLedger>) => Promise<void>): Promise<void> {
  const pool = connectLedger(ledger().url, connections)
  await work(pool).finally(() => pool.db.destroy())
}

/** Runs all at the same time. Returns how many succeeded, and the error messages of the others. */
async function race(contenders: readonly Promise<unknown>[]): Promise<{ won: number; messages: string[] }> {
  const outcomes = await Promise.allSettled(contenders)
  const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
  return {
    won: outcomes.length - lost.length,
    messages: [...new Set(lost.map(({ reason }) => reason.message))],
  }
}

test.serial('of 200 concurrent reserves of the whole balance exactly one succeeds', (t) =>
  withPool(async ({ db, transact }) => {
    for (const transacted of [false, true]) {
      const user = await createUserWith(db, 1000n)
      const one = () => ({
        key: newKey(),
        ref: 'w',
        entries: transferEntries(1000n, available(user), held(user)),
      })
      const { won, messages } = await race(
        Array.from({ length: 200 }, () =>
          transacted ? transact(({ trx }) => reserve(trx, one())) : reserve(db, one()),
        ),
      )
      t.is(won, 1)
      t.deepEqual(messages, ['Insufficient Balance'])
      t.deepEqual(await readBalance(db, user, 'USDC'), { available: 0n, pending: 0n, held: 1000n })
    }
  }),
)

test.serial('of 100 concurrent postings with one key one is new and 99 are repetitions', (t) =>
  withPool(async ({ db }) => {
    const user = await createUserWith(db, 0n)
    const transfer = { key: newKey(), ref: 'tip', entries: transferEntries(5n, clearing, available(user)) }
    const posted = await Promise.all(Array.from({ length: 100 }, () => reserve(db, transfer)))
    t.is(posted.filter(({ repeated }) => !repeated).length, 1)
    t.is(new Set(posted.map(({ id }) => id)).size, 1)
    t.is((await readBalance(db, user, 'USDC')).available, 5n)
  }),
)

test.serial('a reserve that is posted and voided concurrently is resolved once', (t) =>
  withPool(async ({ db }) => {
    const user = await createUserWith(db, 1000n)
    for (let round = 0; round < 20; round++) {
      const key = newKey()
      await reserve(db, { key, ref: 'w', entries: transferEntries(10n, available(user), held(user)) })
      const post = () =>
        postReserved(db, { key, ref: 'w', entries: transferEntries(10n, held(user), provider) })
      const { won, messages } = await race(
        Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? post() : voidReserved(db, key))),
      )
      t.is(won, 5)
      t.deepEqual(messages, [`Another transfer has the idem ${key}:resolve`])
    }
    t.is((await readBalance(db, user, 'USDC')).held, 0n)
    t.deepEqual(await listBrokenInvariants(db), [])
  }),
)

test.serial('20 writers that transfer between the same accounts in any direction never deadlock', (t) =>
  withPool(async ({ db }) => {
    const users = await Promise.all(Array.from({ length: 4 }, () => createUserWith(db, 1_000_000n)))
    const any = () => available(users[Math.floor(Math.random() * users.length)] as string)
    const writer = async () => {
      for (let i = 0; i < 20; i++) {
        const [from, to] = [any(), any()]
        if (from.userId !== to.userId)
          await credit(db, { key: newKey(), ref: 'm', entries: transferEntries(1n, from, to) })
      }
    }
    await Promise.all(Array.from({ length: connections }, writer))
    const balances = await Promise.all(users.map((user) => readBalance(db, user, 'USDC')))
    const total = balances.reduce((sum, balance) => sum + balance.available, 0n)
    t.is(total, 4_000_000n)
    t.deepEqual(await listBrokenInvariants(db), [])
  }),
)

test.serial('transactions that deadlock are run again, and both succeed', (t) =>
  withPool(async ({ db, transact }) => {
    const [ada, bob] = [await createUserWith(db, 100n), await createUserWith(db, 100n)]
    const bothHoldOne = barrier(2)
    let runs = 0
    const credits = (order: readonly string[]) =>
      transact(async ({ trx }) => {
        runs += 1
        for (const user of order) {
          await credit(trx, {
            key: newKey(),
            ref: 'm',
            entries: transferEntries(1n, clearing, available(user)),
          })
          await bothHoldOne()
        }
      })
    await Promise.all([credits([ada, bob]), credits([bob, ada])])
    t.true(runs > 2, 'they did deadlock')
    for (const user of [ada, bob]) t.is((await readBalance(db, user, 'USDC')).available, 102n)
    t.deepEqual(await listBrokenInvariants(db), [])
  }),
)

/** Every call waits until so many calls have been made; later calls pass. */
function barrier(count: number): () => Promise<void> {
  let arrived = 0
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return () => {
    arrived += 1
    if (arrived === count) open()
    return opened
  }
}

test.serial('an account that many transfers open concurrently is opened once', (t) =>
  withPool(async ({ db }) => {
    const user = await createUserWith(db, 0n)
    const credits = Array.from({ length: 50 }, () =>
      reserve(db, { key: newKey(), ref: 'tip', entries: transferEntries(1n, clearing, available(user)) }),
    )
    await Promise.all(credits)
    t.is((await readBalance(db, user, 'USDC')).available, 50n)
    t.deepEqual(await listBrokenInvariants(db), [])
  }),
)

test('random operations from four processes that are killed now and then never violate an invariant', async (t) => {
  const { db, url } = ledger()
  const seed = process.env['LEDGER_SEED'] ?? randomBytes(4).toString('hex')
  t.log(`LEDGER_SEED=${seed}`)
  const operations = 1200
  const result = await stressLedger({
    databaseUrl: url,
    seed,
    operations,
    users: 5,
    killEvery: 100,
    sampleEveryMs: 200,
    report: () => undefined,
  })
  t.deepEqual(result.broken, [])
  t.deepEqual(await listBrokenInvariants(db), [])
  t.true(result.samples >= 2 && result.kills >= 4, JSON.stringify(result))
  t.true(result.posted > operations / 4 && result.refused > 0, JSON.stringify(result))
})
