import { connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../scripts/dev/ports.js'
import { redisUrlWith } from '../../scripts/kit/service-settings.js'
import type { TcpProxy } from '../../scripts/kit/tcp-proxy.js'
import { createDb } from '../../src/platform/database/database.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { follow, openStream } from '../helpers/http/stream-reader.js'
import { createConfirmedSolTips } from '../helpers/make/confirmed-tips.js'
import { payOnChain, postClaim } from '../helpers/make/landed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { tcpProxyFor } from '../helpers/proxies/tcp-proxy.js'
import { type ServiceProcess, startWeb, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** A process that waits for nothing ends within this time, also on a loaded machine. */
const quickMs = 12_000
/** When a server is unavailable, a process still ends in order within this time, before it would be killed. */
const boundMs = 18_000

/** Processes start one after the other, and every step has its own time limit: only a step without one takes so long. */
const testMs = 300_000

/** Stops a process and asserts that it ends with 0 within `ms`. */
async function assertEndsWithin(t: ExecutionContext, process: ServiceProcess, ms: number): Promise<void> {
  const startedAt = performance.now()
  process.signal('SIGTERM')
  await until(`the process ends (${process.logs.at(-1)?.msg})`, () => !process.isRunning(), ms)
  t.log(`ended after ${Math.round(performance.now() - startedAt)} ms`)
  t.is(await process.ended, 0)
}

interface Wires {
  readonly postgres: TcpProxy
  readonly redis: TcpProxy
  /** The direct URL of the database. */
  readonly database: string
  readonly env: Record<string, string>
}

/** A new database, and settings by which a process reaches it and Redis through proxies that can be cut. */
async function wired(t: ExecutionContext): Promise<Wires> {
  const { env, newDatabaseUrl } = world()
  const [database, redis] = [await newDatabaseUrl(), env['REDIS_URL'] ?? '']
  const wires = {
    postgres: await tcpProxyFor(t, database),
    redis: await tcpProxyFor(t, redis),
  }
  return {
    ...wires,
    database,
    env: {
      ...env,
      DATABASE_URL: wires.postgres.url,
      REDIS_URL: redisUrlWith(wires.redis.url, { namespace: new URL(database).pathname.slice(1) }),
    },
  }
}

const failures = { held: (wire: TcpProxy) => wire.hold(true), gone: cutOff }

function cutOff(wire: TcpProxy): void {
  wire.refuse(true)
  wire.cut()
}

/** Sends text on a connection that stays open. */
function sendRaw(t: ExecutionContext, url: string, text: string): Socket & { received: string } {
  const { hostname, port } = new URL(url)
  const socket = Object.assign(connect(Number(port), hostname), { received: '' })
  socket
    .on('error', () => undefined)
    .on('data', (bytes) => {
      socket.received += bytes
    })
  t.teardown(() => void socket.destroy())
  socket.write(text)
  return socket
}

function rawPost(body: string, promised = body.length): string {
  return `POST /chain/tips/create HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${promised}\r\n\r\n${body}`
}

/** Posts a tip after another request on the same connection: when that one is answered, the post has arrived. */
function sendPost(t: ExecutionContext, url: string, wallet: string): Socket & { received: string } {
  const claim = JSON.stringify(payOnChain(world().sandbox, wallet))
  return sendRaw(t, url, `GET /health HTTP/1.1\r\nHost: x\r\n\r\n${rawPost(claim)}`)
}

test('a web process with metrics on a port of their own ends its streams, answers its requests, and ends with 0', async (t) => {
  t.timeout(testMs)
  const { env, postgres } = await wired(t)
  const metricsPort = await freePort()
  const web = await startWeb(t, { ...env, METRICS_PORT: String(metricsPort) })
  t.is((await requestRaw(web.url, 'GET', '/metrics')).status, 404, 'not on the public port')
  const metrics = await requestRaw(`http://127.0.0.1:${metricsPort}`, 'GET', '/metrics')
  t.regex(metrics.text, /^# TYPE tipping_open_streams gauge$/m)
  const wallet = unusedWallet()
  const readers = await Promise.all([1, 2, 3].map(() => follow(t, web.url, wallet)))
  postgres.hold(true)
  const posts = Array.from({ length: 20 }, () => sendPost(t, web.url, wallet))
  await until('all requests have arrived', () =>
    posts.every(({ received }) => received.includes('{"status":"ok"}')),
  )
  web.signal('SIGTERM')
  await until('the streams end', () => readers.every((reader) => !reader.isOpen()))
  t.true(web.isRunning(), 'requests are still being answered')
  await t.throwsAsync(fetch(`${web.url}/health`), undefined, 'nothing new is taken')
  postgres.hold(false)
  t.is(await web.ended, 0)
  t.is(posts.filter(({ received }) => received.includes('Tip recorded successfully')).length, posts.length)
})

test('a web process that stops says so at /ready and takes requests for some seconds more', async (t) => {
  t.timeout(testMs)
  const web = await startWeb(t, { ...world().env, TRUST_PROXY: 'true' })
  const keptAlive = sendRaw(t, web.url, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('it answers', () => keptAlive.received.includes('{"status":"ok"}'))
  t.regex(keptAlive.received, /^Keep-Alive: timeout=95\r$/m)
  web.signal('SIGTERM')
  const statusOf = async (path: string) => (await requestRaw(web.url, 'GET', path)).status
  await until('/ready says 503', async () => (await statusOf('/ready')) === 503)
  t.is(await statusOf('/health'), 200)
  t.is(await web.ended, 0)
})

test('further requests on a kept-alive connection do not delay a stopping web process', async (t) => {
  t.timeout(testMs)
  const { env, postgres } = await wired(t)
  const web = await startWeb(t, env)
  const wallet = unusedWallet()
  postgres.hold(true)
  const socket = sendPost(t, web.url, wallet)
  await until('the request has arrived', () => socket.received.includes('{"status":"ok"}'))
  web.signal('SIGTERM')
  await until('it is stopping', () => web.logs.some(({ msg }) => msg === 'stopping'))
  socket.write(
    `GET /ready HTTP/1.1\r\nHost: x\r\n\r\nGET /chain/tips/stream?wallet=${wallet} HTTP/1.1\r\nHost: x\r\n\r\n`,
  )
  postgres.hold(false)
  await until('it ends', () => !web.isRunning(), quickMs)
  t.is(await web.ended, 0)
  t.true(socket.received.includes('Tip recorded successfully'))
  t.false(
    /\{"status":"(ok|degraded)"\}.*\{"status":"(ok|degraded)"\}/s.test(socket.received),
    'it is not ready',
  )
})

test('a stream reader that does not read and a client that does not finish do not delay a stop', async (t) => {
  t.timeout(testMs)
  const { env, services } = world()
  const web = await startWeb(t, env)
  const wallet = unusedWallet()
  const reader = openStream(web.url, wallet)
  t.teardown(reader.close)
  await until('the stream is open', () => reader.body().includes('connected'))
  reader.pause()
  await createConfirmedSolTips(
    services,
    Array.from({ length: 50 }, () => wallet),
  )
  sendRaw(t, web.url, rawPost('{"creatorWallet":', 500))
  sendRaw(t, web.url, 'GET /chain/tips HTTP/1.1\r\nHost:')
  sendRaw(t, web.url, '')
  const last = sendRaw(t, web.url, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('the web process reads', () => last.received !== '')
  await assertEndsWithin(t, web, boundMs)
})

test('a stopped worker finishes its batch and ends with 0', async (t) => {
  t.timeout(testMs)
  const { env, database } = await wired(t)
  const [web, verifier] = await Promise.all([startWeb(t, env), startWorkerProcess(t, 'verifier', env)])
  const wallet = unusedWallet()
  const tips = Array.from({ length: 40 }, () => payOnChain(world().sandbox, wallet))
  await Promise.all(tips.map((tip) => postClaim(web.url, tip)))
  await assertEndsWithin(t, verifier, quickMs)
  const db = createDb(database, 1)
  t.teardown(() => db.destroy())
  const inWork = await db('tips')
    .where('attempts', '>', 0)
    .whereNull('confirmed_at')
    .whereRaw(`due_at > now() + interval '5 s'`)
  t.is(inWork.length, 0, 'no row that it took waits for its lease')
})

test('a process ends by itself when its parent has ended', async (t) => {
  t.timeout(testMs)
  const { env } = world()
  const processes = await Promise.all([startWeb(t, env), startWorkerProcess(t, 'verifier', env)])
  for (const process of processes) process.endStdin()
  t.deepEqual(await Promise.all(processes.map(({ ended }) => ended)), [0, 0])
})

for (const server of ['redis', 'postgres'] as const)
  for (const how of ['held', 'gone'] as const)
    test(`web and verifier end in order while ${server} is ${how}`, async (t) => {
      t.timeout(testMs)
      const wires = await wired(t)
      const processes = await Promise.all([
        startWeb(t, wires.env),
        startWorkerProcess(t, 'verifier', wires.env),
      ])
      const [web] = processes
      await follow(t, web.url, unusedWallet())
      t.is((await postClaim(web.url, payOnChain(world().sandbox, unusedWallet()))).status, 200)
      failures[how](wires[server])
      const answer = postClaim(web.url, payOnChain(world().sandbox, unusedWallet())).catch(() => undefined)
      if (server === 'redis') t.is((await answer)?.status, 200)
      await Promise.all(processes.map((process) => assertEndsWithin(t, process, boundMs)))
    })

for (const server of ['redis', 'postgres'] as const)
  test(`processes that start while ${server} is unavailable work as soon as it is available`, async (t) => {
    t.timeout(testMs)
    const wires = await wired(t)
    cutOff(wires[server])
    const [web, verifier] = await Promise.all([
      startWeb(t, wires.env),
      startWorkerProcess(t, 'verifier', wires.env),
    ])
    const ready = async (): Promise<unknown> => {
      const response = await fetch(`${web.url}/ready`, { headers: { connection: 'close' } })
      return [response.status, ((await response.json()) as { status: string }).status]
    }
    t.deepEqual(await ready(), server === 'postgres' ? [503, 'unavailable'] : [200, 'degraded'])
    const wallet = unusedWallet()
    const claim = payOnChain(world().sandbox, wallet)
    t.is((await postClaim(web.url, claim)).status, server === 'postgres' ? 503 : 200)
    wires[server].refuse(false)
    await until('it is ready', async () => ((await ready()) as unknown[])[1] === 'ok')
    const reader = await follow(t, web.url, wallet, '0')
    t.is((await postClaim(web.url, claim)).status, 200)
    await until('the tip is confirmed and streamed', () => reader.tips.length === 1)
    t.true(web.isRunning() && verifier.isRunning())
  })
