import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { compose } from '../../src/compose.js'
import { loadConfig } from '../../src/platform/config.js'
import { freshWallet, plantConfirmed, stampsOf } from '../helpers/confirmed-tips.js'
import { privateRedis } from '../helpers/private-redis.js'
import { startWeb } from '../helpers/service-process.js'
import { openStream, type StreamReader } from '../helpers/stream-reader.js'
import { until } from '../helpers/until.js'
import { useWorld } from '../helpers/world.js'

const world = useWorld(test)

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 2 ** 31)
const wallets = Array.from({ length: 60 }, freshWallet)
/** Get a tip each while Redis is away and never again, and nobody comes back to them: only the tail finds these. */
const quietWallets = Array.from({ length: 20 }, freshWallet)
const steadyReaders = 100
const wanderers = 600
const writers = 5
const mostTipsPerBatch = 12
/** A wanderer stays at most this long, and is away at most half of it. */
const stayMs = 4000
const settleMs = 12_000

/** Numbers in [0, 1) that a seed repeats (mulberry32). */
function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const allWallets = [...wallets, ...quietWallets]
const random = randomFrom(seed)
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

/** One reader over all its connections: what it has seen, and since when. */
class Wanderer {
  readonly wallet = pick(wallets)
  /** Stamps in the order they came. */
  readonly seen: number[] = []
  /** What it missed before its first event is not its own: it was not there yet. */
  since = 0
  connections = 0
  #stream: StreamReader | undefined

  /** Comes back after the last event it saw; one that has seen none begins anew. */
  open(url: string): void {
    const stream = openStream(url, this.wallet, this.seen.at(-1)?.toString())
    if (this.seen.length === 0) this.since = Number.POSITIVE_INFINITY
    this.#stream = stream
    this.connections += 1
  }
  get connected(): boolean {
    if (this.#stream?.body().includes('"connected"') !== true) return false
    this.since = Math.min(this.since, Date.now())
    return true
  }
  /** What has come on this connection, with what came before. */
  get all(): number[] {
    return [...this.seen, ...(this.#stream?.tips ?? []).map(({ id }) => id)]
  }
  leave(): void {
    this.#stream?.close()
    this.seen.push(...(this.#stream?.tips ?? []).map(({ id }) => id))
    this.#stream = undefined
    if (this.seen.length === 0) this.since = Number.POSITIVE_INFINITY
  }
}

interface Run {
  readonly urls: readonly string[]
  over: boolean
}

async function wander(run: Run, reader: Wanderer): Promise<void> {
  await sleep(random() * stayMs)
  while (!run.over) {
    reader.open(pick(run.urls))
    const leaveAt = performance.now() + random() * stayMs
    while (performance.now() < leaveAt && !run.over) {
      await sleep(50)
      if (reader.connected) break
    }
    await sleep(Math.max(0, leaveAt - performance.now()))
    reader.leave()
    await sleep((random() * stayMs) / 2)
  }
}

/** Confirms tips of random wallets, many of one wallet in a batch now and then, until the run is over. */
async function write(run: Run, services: ReturnType<typeof compose>): Promise<number> {
  let written = 0
  for (; !run.over; await sleep(random() * 250)) {
    const favourite = pick(wallets)
    const batch = Array.from({ length: 1 + Math.floor(random() * mostTipsPerBatch) }, () =>
      random() < 0.3 ? favourite : pick(wallets),
    )
    written += (await plantConfirmed(services, batch)).length
  }
  return written
}

/** The suffix of the wallet's tips from the first one seen; nothing after `since` may be missing. */
function isWhole(seen: readonly number[], stamps: readonly number[], since: number): boolean {
  const owed = stamps.filter((stamp) => stamp > since).length
  return (
    seen.length >= owed &&
    JSON.stringify(seen) === JSON.stringify(seen.length === 0 ? [] : stamps.slice(-seen.length))
  )
}

test('every reader sees every tip of its wallet once and in order, whatever happens to Redis and to itself', async (t) => {
  t.timeout(150_000)
  t.log(`TEST_SEED=${seed}`)
  const redis = await privateRedis(t)
  const env = { ...world().env, REDIS_URL: redis.url }
  const webs = await Promise.all([startWeb(t, env), startWeb(t, env)])
  const run: Run = { urls: webs.map(({ url }) => url), over: false }
  t.teardown(() => {
    run.over = true
  })
  const services = compose(loadConfig(env), 'test')
  t.teardown(() => services.close())

  const steady = Array.from({ length: steadyReaders }, (_, index) => {
    const wallet = allWallets[index % allWallets.length] as string
    const stream = openStream(run.urls[index % 2] as string, wallet)
    t.teardown(stream.close)
    return { wallet, stream }
  })
  await until('the steady readers are connected', () =>
    steady.every(({ stream }) => stream.body().includes('"connected"')),
  )
  const travellers = Array.from({ length: wanderers }, () => new Wanderer())
  t.teardown(() => {
    for (const reader of travellers) reader.leave()
  })
  const wandering = Promise.all(travellers.map((reader) => wander(run, reader)))
  const writing = Promise.all(Array.from({ length: writers }, () => write(run, services)))
  await trouble(redis, () => plantConfirmed(services, quietWallets))
  run.over = true
  const written = (await writing).reduce((sum, count) => sum + count, quietWallets.length)
  await wandering

  const expected = new Map<string, number[]>()
  for (const wallet of allWallets) expected.set(wallet, await stampsOf(world().db, wallet))
  const stampsFor = (wallet: string): number[] => expected.get(wallet) ?? []
  for (const reader of travellers) if (reader.seen.length > 0) reader.open(pick(run.urls))
  await until(
    'every reader is where it should be',
    () =>
      steady.every(({ wallet, stream }) => stream.tips.length >= stampsFor(wallet).length) &&
      travellers.every(({ wallet, all }) => all.length === 0 || all.at(-1) === stampsFor(wallet).at(-1)),
    settleMs,
  ).catch((error: unknown) => t.log(String(error)))

  const connections = travellers.reduce((sum, reader) => sum + reader.connections, 0)
  t.log(
    `${written} tips, ${connections} connections of ${wanderers} wanderers, ${steady.reduce((sum, { stream }) => sum + stream.tips.length, 0)} events at ${steadyReaders} steady readers`,
  )
  t.is([...expected.values()].flat().length, written)
  const lacking = steady.filter(
    ({ wallet, stream }) =>
      !isWhole(
        stream.tips.map(({ id }) => id),
        stampsFor(wallet),
        0,
      ),
  )
  t.is(lacking.length, 0, 'steady readers with a hole, a repetition or disorder')
  const torn = travellers.filter(({ wallet, all, since }) => !isWhole(all, stampsFor(wallet), since))
  t.is(torn.length, 0, 'wanderers with a hole, a repetition or disorder')
  t.true(travellers.filter(({ seen }) => seen.length > 0).length > wanderers / 2)
  await channelsAre(
    t,
    redis,
    new Set([...steady, ...travellers.filter(({ all }) => all.length > 0)].map(({ wallet }) => wallet)).size,
  )
})

/** Three broken subscriber connections, and a Redis that crashes and comes back empty. */
async function trouble(
  redis: Awaited<ReturnType<typeof privateRedis>>,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  await sleep(2500)
  for (let cut = 0; cut < 3; cut++) {
    await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await sleep(700)
  }
  await redis.kill()
  await meanwhile()
  await sleep(2500)
  await redis.startAgain()
  await sleep(2500)
}

/** As many channels as wallets are read, after everything: no subscription was lost or forgotten. */
async function channelsAre(
  t: ExecutionContext,
  redis: Awaited<ReturnType<typeof privateRedis>>,
  wanted: number,
): Promise<void> {
  let channels = -1
  await until('the subscriptions are those of the readers', async () => {
    channels = ((await redis.command('PUBSUB', 'CHANNELS')) as string[]).length
    return channels === wanted
  }).catch(() => undefined)
  t.is(channels, wanted)
}
