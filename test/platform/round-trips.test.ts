import test, { type ExecutionContext } from 'ava'
import type { Knex } from 'knex'
import type { TcpProxy } from '../../scripts/kit/tcp-proxy.js'
import { isDatabaseUnavailable } from '../../src/platform/database/connections/unavailable.js'
import { createDb, longTransaction, query, write } from '../../src/platform/database/database.js'
import { startSqlRecorder } from '../helpers/proxies/sql-recorder.js'
import { tcpProxyFor } from '../helpers/proxies/tcp-proxy.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

const insert = (id: number) => ({
  name: 'things.insert',
  text: 'insert into things (id) values ($1)',
  values: [id],
})
const count = { name: 'things.count', text: 'select count(*) as n from things where id < $1', values: [1000] }

interface Stage {
  readonly db: Knex
  /** The round trips meanwhile. */
  trips(work: () => Promise<unknown>): Promise<string[][]>
  stored(): Promise<number[]>
}

/** One connection, and a table of its own. */
async function openStage(t: ExecutionContext, prepared: boolean): Promise<Stage> {
  const recorder = await startSqlRecorder(world().env['DATABASE_URL'] ?? '')
  const db = createDb(recorder.url, 1, 5000, prepared)
  t.teardown(async () => {
    await db.destroy()
    await recorder.close()
  })
  await db.raw(
    'create temporary table things (id int primary key, deferred int unique deferrable initially deferred)',
  )
  return {
    db,
    trips: (work) => recorder.tripsDuring(work),
    stored: async () =>
      (await db.raw('select id from things order by id')).rows.map((row: { id: number }) => row.id),
  }
}

const failureOf = (promise: Promise<unknown>): Promise<Error & { readonly code?: string }> =>
  promise.then(
    () => new Error('it did not fail'),
    (error) => error,
  )

for (const prepared of [true, false]) {
  const mode = prepared ? 'prepared' : 'behind a pooler'

  test(`${mode}: BEGIN is sent with the first statement, and writes with the next one or COMMIT`, async (t) => {
    const { db, trips, stored } = await openStage(t, prepared)
    const rows: unknown[] = []
    const seen = await trips(() =>
      db.transaction(async (trx) => {
        await write(trx, insert(1))
        await write(trx, insert(2))
        rows.push(...(await query(trx, count)))
        rows.push(...(await query(trx, count)))
        await write(trx, insert(3))
      }),
    )
    t.deepEqual(
      seen.map(({ length }) => length),
      [4, 1, 2],
    )
    t.deepEqual(rows, [{ n: 2n }, { n: 2n }], 'the parsers of the connection')
    t.deepEqual(await stored(), [1, 2, 3])
    const whole = await trips(() => db.transaction((trx) => write(trx, insert(4))))
    t.deepEqual(
      whole.map(({ length }) => length),
      [3],
      'a transaction in one round trip',
    )
    t.deepEqual(await trips(() => db.transaction(async () => undefined)), [], 'nothing is no transaction')
    const alone = await trips(() => write(db, insert(5)))
    t.deepEqual(
      alone.map(({ length }) => length),
      [1],
      'outside of a transaction at once',
    )
    t.deepEqual(await stored(), [1, 2, 3, 4, 5])
    await longTransaction(db, 2000, (trx) => write(trx, insert(6)))
    t.deepEqual(await stored(), [1, 2, 3, 4, 5, 6])
  })

  test(`${mode}: statements of knex, several in one text, and savepoints keep their order`, async (t) => {
    const { db, stored } = await openStage(t, prepared)
    const lockTimeout = async (on: Knex) => (await on.raw('show lock_timeout')).rows[0].lock_timeout
    const usual = await lockTimeout(db)
    await db.transaction(async (trx) => {
      await trx.raw(`set local enable_sort = off; set local lock_timeout = '1s'`)
      await write(trx, insert(1))
      await trx('things').insert({ id: 2 })
      await write(trx, insert(3))
      await trx.raw('insert into things (id) values (4); insert into things (id) values (5)')
      await failureOf(
        trx.transaction(async (inner) => {
          await write(inner, insert(6))
          throw new Error('not this one')
        }),
      )
      await trx.transaction((inner) => write(inner, insert(7)))
      t.is(await lockTimeout(trx), '1s')
    })
    t.deepEqual(await stored(), [1, 2, 3, 4, 5, 7])
    t.is(await lockTimeout(db), usual)
  })

  test(`${mode}: what fails fails the whole transaction, and the connection is used again`, async (t) => {
    const { db, trips, stored } = await openStage(t, prepared)
    await write(db, insert(1))
    const transaction = (...works: ((trx: Knex) => Promise<unknown>)[]) =>
      failureOf(
        db.transaction(async (trx) => {
          for (const work of works) await work(trx)
        }),
      )
    const store = (id: number) => (trx: Knex) => write(trx, insert(id))
    const look = (trx: Knex) => query(trx, count)
    const fail = { name: 'things.fail', text: 'select 1 / $1::int as n', values: [0] }
    const circular: unknown[] = []
    circular.push({ circular })
    const cases: Record<string, [string | RegExp, () => Promise<Error & { code?: string }>]> = {
      'with COMMIT': ['23505', () => transaction(look, store(2), store(1), store(3))],
      'in one round trip': ['23505', () => transaction(store(2), store(1), store(3))],
      'before a statement': ['23505', () => transaction(store(1), look)],
      'with BEGIN': ['22012', () => transaction((trx) => query(trx, fail))],
      'with BEGIN, by knex': ['22012', () => transaction((trx) => trx.raw('select 1 / ?::int', [0]))],
      'of no grammar': [
        '42601',
        () => transaction(store(2), (trx) => query(trx, { name: 'x', text: 'selct' })),
      ],
      'with a value that is none': [
        /circular/,
        () => transaction(store(2), (trx) => write(trx, { ...insert(3), values: [circular] }), store(4)),
      ],
      'at the COMMIT itself': [
        '23505',
        () =>
          transaction(look, (trx) =>
            write(trx, {
              name: 'things.twice',
              text: 'insert into things values ($1, 1), ($2, 1)',
              values: [8, 9],
            }),
          ),
      ],
      'by itself': [
        /not this/,
        () =>
          transaction(store(2), async () => {
            throw new Error('not this')
          }),
      ],
    }
    for (const [name, [expected, work]] of Object.entries(cases)) {
      const error = await work()
      if (expected instanceof RegExp) t.regex(error.message, expected, name)
      else t.is(error.code, expected, name)
      t.false(isDatabaseUnavailable(error), name)
      t.deepEqual(await stored(), [1], name)
      t.is((await db.raw('select pg_current_xact_id_if_assigned() as id')).rows[0].id, null, name)
    }
    t.regex(
      (await cases['with COMMIT']?.[1]())?.message ?? '',
      /(things\.insert|insert into things .*) - /,
      'the message names the statement',
    )
    t.deepEqual(
      await trips(() =>
        transaction(async () => {
          throw new Error('nothing')
        }),
      ),
      [],
      'nothing was begun',
    )
    await db.transaction(async (trx) => {
      for (const id of [2, 3, 4]) await write(trx, insert(id))
      t.deepEqual(await query(trx, count), [{ n: 4n }])
    })
  })
}

test('one name has one text, and without what was refused a transaction does not go on', async (t) => {
  const other = { ...insert(3), text: 'insert into things (id) values ($1 + 100)' }
  for (const isPrepared of [false, true]) {
    const { db } = await openStage(t, true)
    if (isPrepared) await write(db, insert(1))
    const clash = db.transaction(async (trx) => {
      await write(trx, insert(2))
      await write(trx, other)
    })
    t.regex((await failureOf(clash)).message, /Two statements have the name things.insert/)
  }
  const { db } = await openStage(t, true)
  const pid = async () => (await db.raw('select pg_backend_pid() as pid')).rows[0].pid
  const before = await pid()
  const goesOn = db.transaction(async (trx) => {
    await write(trx, insert(1))
    t.regex((await failureOf(query(trx, { ...other, values: [6] }))).message, /Two statements/)
    await query(trx, insert(2))
  })
  t.true(isDatabaseUnavailable(await failureOf(goesOn)))
  t.not(await pid(), before)
})

test('a transaction whose connection breaks meanwhile fails with its own error', async (t) => {
  const proxy = await tcpProxyFor(t, world().env['DATABASE_URL'] ?? '')
  const db = createDb(proxy.url, 1)
  t.teardown(() => db.destroy())
  const error = await failureOf(
    db.transaction(async (trx) => {
      await query(trx, { name: 'one', text: 'select $1::int', values: [1] })
      const { connection } = await trx.client.acquireConnection()
      const closed = new Promise((done) => connection.stream.once('close', done))
      proxy.cut()
      await closed
      throw new Error('mine')
    }),
  )
  t.is(error.message, 'mine')
})

test('a COMMIT that PostgreSQL answers with ROLLBACK fails, and a transaction that has ended takes no statement', async (t) => {
  const { db, stored } = await openStage(t, true)
  const swallowed = await failureOf(
    db.transaction(async (trx) => {
      await write(trx, insert(1))
      await failureOf(trx.raw('select 1 / 0'))
    }),
  )
  t.regex(swallowed.message, /had failed before/)
  let ended: Knex = db
  await db.transaction(async (trx) => {
    ended = trx
    await write(trx, insert(2))
  })
  t.regex((await failureOf(write(ended, insert(3)))).message, /has ended before things.insert/)
  t.deepEqual(await stored(), [2])
})

for (const [how, breaking] of Object.entries({
  'is not answered': (proxy: TcpProxy) => proxy.hold(true),
  breaks: (proxy: TcpProxy) => proxy.cut(),
}))
  test(`a connection that ${how} at COMMIT is not used again`, async (t) => {
    const proxy = await tcpProxyFor(t, world().env['DATABASE_URL'] ?? '')
    const db = createDb(proxy.url, 1, 500)
    t.teardown(() => db.destroy())
    const pid = async () => (await db.raw('select pg_backend_pid() as pid')).rows[0].pid
    const before = await pid()
    const error = await failureOf(
      db.transaction(async (trx) => {
        await query(trx, { name: 'one', text: 'select $1::int', values: [1] })
        await write(trx, { name: 'two', text: 'select $1::int', values: [2] })
        breaking(proxy)
      }),
    )
    proxy.hold(false)
    t.true(isDatabaseUnavailable(error), error.message)
    t.not(await pid(), before)
  })
