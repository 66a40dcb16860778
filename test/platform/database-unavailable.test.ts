import { randomUUID } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import test from 'ava'
import { Site } from '../../src/creators/models.js'
import { isDatabaseUnavailable } from '../../src/platform/database/connections/unavailable.js'
import { createDb, createHotPool } from '../../src/platform/database/database.js'
import { createClient } from '../helpers/http/client.js'
import { tcpProxyFor } from '../helpers/proxies/tcp-proxy.js'
import { testServers } from '../helpers/servers/database.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)

const unavailable: [name: string, error: object, message?: string][] = [
  ['a connection that takes too long', {}, 'timeout expired'],
  ['the same behind a statement of knex', {}, 'BEGIN; - timeout expired'],
  ['a full pool', {}, 'timeout exceeded when trying to connect'],
  ['too many connections', { severity: 'FATAL', code: '53300' }],
  ['a refused password', { severity: 'FATAL', code: '28P01' }],
  ['a missing database', { severity: 'FATAL', code: '3D000' }],
  ['a pooler that knows no such tenant', { severity: 'FATAL', code: 'XX000' }],
  ['a server that panics', { severity: 'PANIC', code: 'XX000' }],
  ['a full disk', { severity: 'ERROR', code: '53100' }],
  ['a disk that fails', { severity: 'ERROR', code: '58030' }],
  ['a name server without an answer', { code: 'EAI_AGAIN' }],
  ['a host without a route', { code: 'EHOSTUNREACH' }],
  ['a network without a route', { code: 'ENETUNREACH' }],
]
for (const [name, fields, message] of unavailable)
  test(`${name} means that the database is unavailable`, (t) => {
    t.true(isDatabaseUnavailable(Object.assign(new Error(message), fields)))
  })

const faulty: [name: string, error: unknown][] = [
  ['a broken constraint', Object.assign(new Error('duplicate key'), { severity: 'ERROR', code: '23505' })],
  ['an error inside the server', Object.assign(new Error('cache'), { severity: 'ERROR', code: 'XX000' })],
  ['a missing file', Object.assign(new Error('open'), { code: 'ENOENT' })],
  ['a text that only mentions a timeout', new Error('the tip says timeout expired')],
  ['no error', 'timeout expired'],
]
for (const [name, error] of faulty)
  test(`${name} does not mean that the database is unavailable`, (t) => {
    t.false(isDatabaseUnavailable(error))
  })

test('a missing database is answered 503, not 500', async (t) => {
  const { url } = await startApp(t, { ...world().env, DATABASE_URL: `${testServers().server}none` })
  const { status, body } = await (await createClient(url))('GET', `/chain/tips?address=${randomUUID()}`)
  t.is(`${status} ${(body as { error?: string }).error}`, '503 Service unavailable')
})

test('a server that accepts a connection and says nothing is unavailable for both kinds of pools', async (t) => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const address = silent.address()
  const url = `postgres://a:b@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/x`
  const db = createDb(url, 1)
  t.teardown(() => db.destroy())
  const pool = createHotPool(url, 1)
  t.teardown(() => pool.end())
  const errors = await Promise.all([db.raw('select 1'), pool.query('select 1')].map(failureOf))
  t.deepEqual(errors.map(isDatabaseUnavailable), [true, true], String(errors))
})

test('a connection whose BEGIN was not answered in time is not used again', async (t) => {
  const proxy = await tcpProxyFor(t, world().env['DATABASE_URL'] ?? '')
  const db = createDb(proxy.url, 1, 1000)
  t.teardown(() => db.destroy())
  const transactionId = async () => (await db.raw('select pg_current_xact_id()::text as id')).rows[0].id
  await transactionId()
  proxy.hold(true)
  t.regex(String(await failureOf(db.transaction((trx) => trx.raw('select 1')))), / - Query read timeout/)
  proxy.hold(false)
  t.not(await transactionId(), await transactionId(), 'each statement is a transaction')
})

test('a connection whose statement ran out of time is not used again, and models throw the errors of the driver', async (t) => {
  const db = createDb(world().env['DATABASE_URL'] ?? '', 1, 1000)
  t.teardown(() => db.destroy())
  const backend = async () => (await db.raw('select pg_backend_pid() as pid')).rows[0].pid
  const before = await backend()
  t.like(await failureOf(db.raw('select count(*) from generate_series(1, 10000000000)')), { code: '57014' })
  t.not(await backend(), before)
  const site = { userId: randomUUID(), domain: 'one.example', position: 1 }
  t.like(await failureOf(Site.query(db).insert(site)), { code: '23503' })
})

test('connections that nobody needs go back to the server, where another process may wait for them', async (t) => {
  const db = createDb(world().env['DATABASE_URL'] ?? '', 3)
  t.teardown(() => db.destroy())
  const { pool } = db.client
  await Promise.all([1, 2, 3].map(() => db.raw('select 1')))
  t.true(pool.numFree() > 1)
  // The default of knex is 30 s.
  await until('they are closed', () => pool.numFree() === 0, 20_000)
})

function failureOf(promise: PromiseLike<unknown>): PromiseLike<unknown> {
  return promise.then(
    () => 'it answered',
    (error: unknown) => error,
  )
}

test('while connections of the pool are waited for too long, requests are refused before they cost anything', async (t) => {
  const { url, services } = await startApp(t, { ...world().env, DB_POOL: '1' })
  const request = await createClient(url)
  t.not(await services.ready(), 'unavailable')
  const holder = await services.db.transaction()
  t.teardown(() => holder.rollback())
  t.not(await services.ready(), 'unavailable', 'readiness needs no connection of the pool')
  // Without an address the request is refused with 400, and needs no connection.
  const ask = () => request('GET', '/chain/tips')
  t.is((await ask()).status, 400)
  await until('requests are refused', async () => {
    void services.db.raw('select 1').catch(() => undefined)
    return (await ask()).status === 503
  })
  const { body, headers } = await ask()
  t.deepEqual([body.error, headers['retry-after']], ['Service unavailable', '2'])
  t.not(await services.ready(), 'unavailable', 'other processes are no less busy')
  await holder.rollback()
  await until('requests are taken again', async () => (await ask()).status === 400)
  t.not(await services.ready(), 'unavailable')
})
