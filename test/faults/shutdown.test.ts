import { connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createDb } from '../../src/platform/database/database.js'
import { follow, openStream } from '../helpers/http/stream-reader.js'
import { type Wire, wireFor } from '../helpers/http/wire.js'
import { payTip, postTip } from '../helpers/make/chain-tips.js'
import { plantConfirmed } from '../helpers/make/confirmed-tips.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { type ServiceProcess, startWeb, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** Nothing to wait for: a process that serves ends well within this on a loaded machine. */
const quickMs = 5000
/** Something is away that would have to be waited for; the process still ends in order before it would be killed. */
const boundMs = 18_000

/** Starts of processes wait for each other; every step has a bound of its own. */
const testMs = 120_000

/** Asks a process to stop. It must end with 0 within `ms`. */
async function endsWithin(t: ExecutionContext, process: ServiceProcess, ms: number): Promise<void> {
  const startedAt = performance.now()
  process.signal('SIGTERM')
  await until(`the process ends (${process.logs.at(-1)?.msg})`, () => !process.isRunning(), ms)
  t.log(`ended after ${Math.round(performance.now() - startedAt)} ms`)
  t.is(await process.ended, 0)
}

interface Wires {
  readonly postgres: Wire
  readonly redis: Wire
  /** The URL of their database itself. */
  readonly database: string
  readonly env: Record<string, string>
}

/** A database of one's own, and settings by which a process reaches it and Redis over wires that can be cut. */
async function wired(t: ExecutionContext): Promise<Wires> {
  const { env, newDatabaseUrl } = world()
  const [database, redis] = [await newDatabaseUrl(), env['REDIS_URL'] ?? '']
  const wires = {
    postgres: await wireFor(t, database),
    redis: await wireFor(t, redis),
  }
  return {
    ...wires,
    database,
    env: {
      ...env,
      REDIS_NAMESPACE: new URL(database).pathname.slice(1),
      DATABASE_URL: wires.postgres.url,
      REDIS_URL: wires.redis.url,
    },
  }
}

const failures = { held: (wire: Wire) => wire.hold(true), gone: cutOff }

function cutOff(wire: Wire): void {
  wire.refuse(true)
  wire.cut()
}

/** Sends bytes on a connection that stays open. */
function say(t: ExecutionContext, url: string, text: string): Socket & { heard: string } {
  const { hostname, port } = new URL(url)
  const socket = Object.assign(connect(Number(port), hostname), { heard: '' })
  socket
    .on('error', () => undefined)
    .on('data', (bytes) => {
      socket.heard += bytes
    })
  t.teardown(() => void socket.destroy())
  socket.write(text)
  return socket
}

function rawPost(body: string, promised = body.length): string {
  return `POST /chain/tips/create HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${promised}\r\n\r\n${body}`
}

/** Posts a tip behind another request: when that is answered, the tip's has arrived. */
function sayPost(t: ExecutionContext, url: string, wallet: string): Socket & { heard: string } {
  const claim = JSON.stringify(payTip(world().sandbox, wallet))
  return say(t, url, `GET /health HTTP/1.1\r\nHost: x\r\n\r\n${rawPost(claim)}`)
}

test('a web process told to stop ends its streams, answers what it has begun and leaves with 0', async (t) => {
  t.timeout(testMs)
  const { env, postgres } = await wired(t)
  const web = await startWeb(t, env)
  const wallet = strangerWallet()
  const readers = await Promise.all([1, 2, 3].map(() => follow(t, web.url, wallet)))
  postgres.hold(true)
  const posts = Array.from({ length: 20 }, () => sayPost(t, web.url, wallet))
  await until('all requests have arrived', () =>
    posts.every(({ heard }) => heard.includes('{"status":"ok"}')),
  )
  web.signal('SIGTERM')
  await until('the streams end', () => readers.every((reader) => !reader.isOpen()))
  t.true(web.isRunning(), 'requests are still being answered')
  await t.throwsAsync(fetch(`${web.url}/health`), undefined, 'nothing new is taken')
  postgres.hold(false)
  t.is(await web.ended, 0)
  t.is(posts.filter(({ heard }) => heard.includes('Tip recorded successfully')).length, posts.length)
})

test('a connection that is kept alive cannot hold a stopping web process with further requests', async (t) => {
  t.timeout(testMs)
  const { env, postgres } = await wired(t)
  const web = await startWeb(t, env)
  const wallet = strangerWallet()
  postgres.hold(true)
  const socket = sayPost(t, web.url, wallet)
  await until('the request has arrived', () => socket.heard.includes('{"status":"ok"}'))
  web.signal('SIGTERM')
  await until('it is stopping', () => web.logs.some(({ msg }) => msg === 'stopping'))
  socket.write(
    `GET /ready HTTP/1.1\r\nHost: x\r\n\r\nGET /chain/tips/stream?wallet=${wallet} HTTP/1.1\r\nHost: x\r\n\r\n`,
  )
  postgres.hold(false)
  await until('it ends', () => !web.isRunning(), quickMs)
  t.is(await web.ended, 0)
  t.true(socket.heard.includes('Tip recorded successfully'))
  t.false(/\{"status":"(ok|degraded)"\}.*\{"status":"(ok|degraded)"\}/s.test(socket.heard), 'it is not ready')
})

test('a reader that reads nothing and a client that never finishes do not hold up a stop', async (t) => {
  t.timeout(testMs)
  const { env, services } = world()
  const web = await startWeb(t, env)
  const wallet = strangerWallet()
  const reader = openStream(web.url, wallet)
  t.teardown(reader.close)
  await until('the stream is open', () => reader.body().includes('connected'))
  reader.pause()
  await plantConfirmed(
    services,
    Array.from({ length: 50 }, () => wallet),
  )
  say(t, web.url, rawPost('{"creatorWallet":', 500))
  say(t, web.url, 'GET /chain/tips HTTP/1.1\r\nHost:')
  say(t, web.url, '')
  const last = say(t, web.url, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('the web process reads', () => last.heard !== '')
  await endsWithin(t, web, boundMs)
})

test('a worker told to stop ends its batch and leaves with 0', async (t) => {
  t.timeout(testMs)
  const { env, database } = await wired(t)
  const [web, verifier] = await Promise.all([startWeb(t, env), startWorkerProcess(t, 'verifier', env)])
  const wallet = strangerWallet()
  const tips = Array.from({ length: 40 }, () => payTip(world().sandbox, wallet))
  await Promise.all(tips.map((tip) => postTip(web.url, tip)))
  await endsWithin(t, verifier, quickMs)
  const db = createDb(database, 1)
  t.teardown(() => db.destroy())
  const inWork = await db('tips')
    .where('attempts', '>', 0)
    .whereNull('confirmed_at')
    .whereRaw(`due_at > now() + interval '5 s'`)
  t.is(inWork.length, 0, 'nothing it took waits for its lease')
})

test('a process whose parent is gone ends by itself', async (t) => {
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
      await follow(t, web.url, strangerWallet())
      t.is((await postTip(web.url, payTip(world().sandbox, strangerWallet()))).status, 200)
      failures[how](wires[server])
      const answer = postTip(web.url, payTip(world().sandbox, strangerWallet())).catch(() => undefined)
      if (server === 'redis') t.is((await answer)?.status, 200)
      await Promise.all(processes.map((process) => endsWithin(t, process, boundMs)))
    })

for (const server of ['redis', 'postgres'] as const)
  test(`processes started while ${server} is away serve as soon as it is there`, async (t) => {
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
    const wallet = strangerWallet()
    const claim = payTip(world().sandbox, wallet)
    t.is((await postTip(web.url, claim)).status, server === 'postgres' ? 503 : 200)
    wires[server].refuse(false)
    await until('it is ready', async () => ((await ready()) as unknown[])[1] === 'ok')
    const reader = await follow(t, web.url, wallet, '0')
    t.is((await postTip(web.url, claim)).status, 200)
    await until('the tip is confirmed and streamed', () => reader.tips.length === 1)
    t.true(web.isRunning() && verifier.isRunning())
  })
