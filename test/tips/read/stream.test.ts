import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { Redis } from 'ioredis'
import Koa from 'koa'
import { redisUrlWith } from '../../../scripts/kit/service-settings.js'
import { createLiveStreams } from '../../../src/events/stream.js'
import { StreamHub } from '../../../src/events/stream-hub.js'
import { HeartbeatWheel } from '../../../src/http/sse.js'
import { solMint } from '../../../src/kernel/tokens.js'
import { findStart, tipStream } from '../../../src/tips/read/stream.js'
import { follow, openStream, type StreamReader } from '../../helpers/http/stream-reader.js'
import { confirmedStamps, createConfirmedSolTips } from '../../helpers/make/confirmed-tips.js'
import { unusedWallet } from '../../helpers/make/supporter.js'
import { watchPostgresSteps } from '../../helpers/proxies/watch-steps.js'
import type { ServedApp } from '../../helpers/servers/serve-app.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test)

const idsOf = ({ tips }: StreamReader): number[] => tips.map(({ id }) => id)
const opening = (wallet: string, cursor = 0): string =>
  `retry: 10000\n\nid: ${cursor}\ndata: {"status":"connected","wallet":"${wallet}"}\n\n`

/** In parts, because the parameters of one statement are limited. */
async function plantMany(wallet: string, count: number, message: string | null = null): Promise<void> {
  for (let left = count; left > 0; left -= 250)
    await createConfirmedSolTips(world().services, Array(Math.min(250, left)).fill(wallet), { message })
}

test('a stream starts with the retry directive and the connected event, and sends each tip as one event', async (t) => {
  const wallet = unusedWallet()
  const sender = unusedWallet()
  await world().db('prices').insert({ mint: solMint, usd: '150', source: 'test', as_of: new Date() })
  await createConfirmedSolTips(world().services, [wallet], { message: 'before the first reader' })
  const [before = 0] = await confirmedStamps(world().db, wallet)
  const reader = await follow(t, world().url, wallet)
  const withoutChunks = openStream(world().url, wallet, undefined, '1.0')
  t.teardown(withoutChunks.close)
  await until('the other one is connected', () => withoutChunks.body().includes('"connected"'))
  t.is(reader.body(), opening(wallet, before))
  await createConfirmedSolTips(world().services, [wallet], { sender, message: 'a "quoted"\nline – 🎉' })
  await until('the tip comes', () => reader.tips.length === 1 && withoutChunks.tips.length === 1)
  const [, at = 0] = await confirmedStamps(world().db, wallet)
  const { id: eventId } = await world().db('tips').where({ sender }).first('id')
  const data = `{"type":"tip","eventId":"${eventId}","amount":0.5,"receivedAmount":0.49,"tokenSymbol":"SOL","sender":"${sender}","message":"a \\"quoted\\"\\nline – 🎉","timestamp":"${new Date(at).toISOString()}","valueUsd":75}`
  t.is(reader.body(), `${opening(wallet, before)}id: ${at}\ndata: ${data}\n\n`)
  t.is(withoutChunks.body(), reader.body())
  t.regex(reader.head(), /\r\nTransfer-Encoding: chunked/i)
})

test('streams that were asked for one behind the other on a connection end with it', async (t) => {
  const { url, services } = await startApp(t, world().env)
  const countOpen = async () => (await services.metrics.openStreams.get()).values[0]?.value
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  const asked = `GET /chain/tips/stream?wallet=${unusedWallet()} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`
  socket.resume().write(asked.repeat(4))
  // Who asks for more on the connection of a stream loses it.
  await once(socket, 'close')
  await until('none is left', async () => (await countOpen()) === 0)
  t.is(await countOpen(), 0)
})

test('a stream that is asked for behind another request on its connection comes after that answer', async (t) => {
  const wallet = unusedWallet()
  const { hostname, port } = new URL(world().url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  let answers = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    answers += text
  })
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`
  socket.write(get(`/chain/tips?address=${wallet}`) + get(`/chain/tips/stream?wallet=${wallet}`))
  await until('the stream is connected', () => answers.includes('"connected"'))
  await createConfirmedSolTips(world().services, [wallet])
  await until('the tip comes', () => answers.includes('"type":"tip"'))
  t.deepEqual(answers.match(/HTTP\/1.1 200|"tips":\[\]|retry: 10000|"connected"|"type":"tip"/g), [
    'HTTP/1.1 200',
    '"tips":[]',
    'HTTP/1.1 200',
    'retry: 10000',
    '"connected"',
    '"type":"tip"',
  ])
})

test('the response headers name the event stream, disable caches and proxy buffering, and allow any origin', async (t) => {
  const abort = new AbortController()
  t.teardown(() => abort.abort())
  const response = await fetch(`${world().url}/chain/tips/stream?wallet=${unusedWallet()}`, {
    headers: { origin: 'https://stream.example' },
    signal: abort.signal,
  })
  t.is(response.status, 200)
  const header = (name: string): string | null => response.headers.get(name)
  t.is(header('content-type'), 'text/event-stream; charset=utf-8')
  t.is(header('cache-control'), 'no-cache, no-transform')
  t.is(header('x-accel-buffering'), 'no')
  t.is(header('access-control-allow-origin'), '*')
  t.truthy(header('x-request-id'))
  t.is(header('content-length'), null)
})

for (const [query, code, error] of [
  ['', 'wallet_required', 'wallet is required'],
  ['?wallet=', 'wallet_required', 'wallet is required'],
  ['?wallet=not-a-wallet', 'invalid_wallet', 'Invalid wallet'],
  [`?wallet=${'1'.repeat(45)}`, 'invalid_wallet', 'Invalid wallet'],
  ['?wallet[]=1', 'wallet_required', 'wallet is required'],
] as const)
  test(`a stream request with "${query}" is refused with 400 before it opens`, async (t) => {
    const { status, headers, body } = await world().request('GET', `/chain/tips/stream${query}`)
    t.is(status, 400)
    t.regex(headers['content-type'] ?? '', /^application\/json/)
    t.deepEqual([body.code, body.error], [code, error])
  })

test('a reader that reconnects gets the events after its last one; an invalid or future id starts now', async (t) => {
  const wallet = unusedWallet()
  await plantMany(wallet, 7)
  const stamps = await confirmedStamps(world().db, wallet)
  const future = String(Date.now() + 86_400_000)
  const wanted: [string, number[]][] = [
    ['0', stamps],
    [String(stamps[2]), stamps.slice(3)],
    [String((stamps[6] ?? 0) - 1), stamps.slice(6)],
    [String(stamps[6]), []],
    [future, []],
    ['-5', []],
    ['1e3', []],
    ['abc', []],
    ['9'.repeat(40), []],
  ]
  const readers = await Promise.all(
    wanted.map(([lastEventId]) => follow(t, world().url, wallet, lastEventId)),
  )
  await until('replays have come', () =>
    readers.every(({ tips }, index) => tips.length >= (wanted[index]?.[1].length ?? 0)),
  )
  // One more event for every reader shows that nothing else was pending.
  await plantMany(wallet, 1)
  const [newest = 0] = (await confirmedStamps(world().db, wallet)).slice(-1)
  await until('the next tip reaches all', () => readers.every((reader) => idsOf(reader).includes(newest)))
  for (const [index, [lastEventId, replay]] of wanted.entries())
    t.deepEqual(idsOf(readers[index] as StreamReader), [...replay, newest], lastEventId)
})

test('every stream gets one heartbeat per turn of the wheel, whenever it was opened', async (t) => {
  const { services } = world()
  const turnMs = 600
  const wheel = new HeartbeatWheel(turnMs)
  const hub = new StreamHub(services, tipStream)
  const streams = createLiveStreams(services, hub, wheel)
  const wallet = unusedWallet()
  const server = createServer(
    new Koa().use((ctx) => streams.serve(ctx, () => findStart(services.db, wallet))).callback(),
  )
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(async () => {
    streams.close()
    wheel.close()
    await hub.close()
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  const { port } = server.address() as AddressInfo
  const beats = (reader: StreamReader): number => reader.body().split(/^:$/m).length - 1
  const readers: StreamReader[] = []
  const begun = performance.now()
  for (let turn = 0; turn < 5; turn++) {
    const openedAt = performance.now()
    const newest = await follow(t, `http://127.0.0.1:${port}`, wallet)
    readers.push(newest)
    await until('its first heartbeat comes', () => beats(newest) > 0)
    t.true(
      performance.now() - openedAt > turnMs * 0.6,
      'its first heartbeat comes about one turn after it opened',
    )
  }
  await until('the last one has had five', () => beats(readers[4] as StreamReader) >= 5)
  // The streams were opened at least one turn apart, and each gets one heartbeat per turn.
  const counts = readers.map(beats)
  t.deepEqual(
    counts,
    counts.toSorted((a, b) => b - a),
  )
  const turns = (performance.now() - begun) / turnMs
  t.true((counts[0] ?? 0) >= 8 && (counts[0] ?? 0) <= turns + 1, `${counts} in ${turns} turns`)
})

async function ownApp(t: ExecutionContext, changes: Record<string, string> = {}): Promise<ServedApp> {
  const { env } = world()
  return startApp(t, {
    ...env,
    REDIS_URL: redisUrlWith(env['REDIS_URL'] ?? '', {
      namespace: `streams_${Math.random().toString(36).slice(2)}`,
    }),
    ...changes,
  })
}

/** A Redis connection of the test. */
async function askRedis(t: ExecutionContext): Promise<Redis> {
  const redis = new Redis(world().env['REDIS_URL'] ?? '')
  t.teardown(() => redis.disconnect())
  return redis
}

async function openStreams({ services }: ServedApp): Promise<number> {
  return (await services.metrics.openStreams.get()).values[0]?.value ?? 0
}

test('a reader that does not read is dropped at a quarter of a megabyte, without effect on other readers', async (t) => {
  const app = await ownApp(t)
  const wallet = unusedWallet()
  const slow = openStream(app.url, wallet)
  t.teardown(slow.close)
  await until('it is connected', () => slow.body().includes('connected'))
  slow.pause()
  const quick = await follow(t, app.url, wallet)
  const message = 'x'.repeat(500)
  // First the socket buffers of both sides fill up, then the memory of the process.
  let planted = 0
  while ((await openStreams(app)) === 2) {
    await plantMany(wallet, 1000, message)
    planted += 1000
    await until('the quick reader has them', () => quick.tips.length === planted)
    if (planted > 40_000) break
  }
  t.log(`dropped after ${planted} tips`)
  t.is(await openStreams(app), 1)
  t.deepEqual(idsOf(quick), await confirmedStamps(world().db, wallet))
  t.true(quick.isOpen())
})

test('a process has one subscriber connection for all streams, and unsubscribes a channel without readers', async (t) => {
  const app = await ownApp(t)
  const redis = await askRedis(t)
  const namespace = app.services.config.redis.namespace
  const wallets = Array.from({ length: 30 }, unusedWallet)
  const channels = async (): Promise<number> =>
    ((await redis.pubsub('CHANNELS', `${namespace}.*`)) as string[]).length
  const subscribers = async (): Promise<number> => {
    const list = String(await redis.call('CLIENT', 'LIST', 'TYPE', 'PUBSUB'))
    return list.split('\n').filter((line) => / sub=30 /.test(line)).length
  }
  const readers = await Promise.all([...wallets, ...wallets].map((wallet) => follow(t, app.url, wallet)))
  await until('every wallet has its channel', async () => (await channels()) === 30)
  t.is(await subscribers(), 1, 'one connection holds all thirty')
  for (const reader of readers.slice(0, 30)) reader.close()
  await until('half of the streams are gone', async () => (await openStreams(app)) === 30)
  t.is(await channels(), 30, 'each wallet is still read by one')
  for (const reader of readers) reader.close()
  await until('no channel is left', async () => (await channels()) === 0)
  t.is(await openStreams(app), 0)
  await until('no connection is left', async () => (await app.connections()) === 0)
})

test('readers that disconnect while they are served leave nothing open', async (t) => {
  const app = await ownApp(t)
  const redis = await askRedis(t)
  const wallet = unusedWallet()
  for (let turn = 0; turn < 100; turn++) {
    const reader = openStream(app.url, wallet, '0')
    await new Promise((next) => setImmediate(next))
    if (turn % 3 === 0) await until('its head comes', () => reader.head() !== '')
    reader.close()
  }
  await until('no connection is left', async () => (await app.connections()) === 0)
  await until('no stream is left', async () => (await openStreams(app)) === 0)
  const channel = `${app.services.config.redis.namespace}.tips.${wallet}`
  await until(
    'no channel is left',
    async () => ((await redis.pubsub('NUMSUB', channel)) as unknown[])[1] === 0,
  )
  t.pass()
})

test('streams end when the app closes, and each reader is told its own time to come back', async (t) => {
  const app = await ownApp(t)
  const readers = await Promise.all([1, 2, 3].map(() => follow(t, app.url, unusedWallet())))
  await app.close()
  await until('all are ended', () => readers.every((reader) => !reader.isOpen()))
  const times = readers.map((reader) => Number(/\n\nretry: (\d+)\n\n$/.exec(reader.body())?.[1]))
  t.true(times.every((ms) => ms >= 500 && ms < 5000))
  t.true(new Set(times).size > 1, `${times}`)
  t.is(await openStreams(app), 0)
})

test('a stream that cannot read the database opens and ends, so that the reader reconnects', async (t) => {
  const app = await ownApp(t, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
  const reader = openStream(app.url, unusedWallet())
  t.teardown(reader.close)
  await until('it ends', () => !reader.isOpen())
  t.regex(reader.head(), /^HTTP\/1.1 200 /)
  t.is(reader.body(), 'retry: 10000\n\n')
})

test('a replay whose read fails is continued', async (t) => {
  let reads = 0
  const { url } = await watchPostgresSteps(t, world().env['DATABASE_URL'] ?? '', async (label, phase) => {
    if (label !== 'tips.confirmed-after' || phase !== 'before') return true
    reads += 1
    return reads !== 2
  })
  const app = await ownApp(t, { DATABASE_URL: url })
  const wallet = unusedWallet()
  await plantMany(wallet, 250)
  // Long ago: only the replay itself reads these tips.
  await world().db.raw(
    `update creator_cursors set last_at = last_at - interval '1 hour' where party_id = (select id from parties where wallet = ?)`,
    [wallet],
  )
  await world().db.raw(
    `update tips set confirmed_at = confirmed_at - interval '1 hour' where recipient_party = (select id from parties where wallet = ?)`,
    [wallet],
  )
  const reader = await follow(t, app.url, wallet, '0')
  await until('the replay is whole', () => reader.tips.length === 250)
  t.deepEqual(idsOf(reader), await confirmedStamps(world().db, wallet))
  t.true(reads > 2)
})
