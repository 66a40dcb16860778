import test, { type ExecutionContext } from 'ava'
import { compose } from '../../src/compose.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { Wanderer } from '../helpers/browser/wanderer.js'
import { openStream } from '../helpers/http/stream-reader.js'
import { plantConfirmed, stampsOf } from '../helpers/make/confirmed-tips.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { Progress } from '../helpers/progress.js'
import { randomFrom } from '../helpers/random.js'
import { type PrivateRedis, privateRedis } from '../helpers/servers/private-redis.js'
import { startWeb } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 2 ** 31)
const wallets = Array.from({ length: 60 }, strangerWallet)
/** Get a tip each while Redis is away and never again, and nobody comes back to them: only the tail finds these. */
const quietWallets = Array.from({ length: 20 }, strangerWallet)
const steadyReaders = 100
const wanderers = 600
const writers = 3
const mostTipsPerBatch = 8
/** A wanderer stays for at most so many tips of the run, and is away for at most half as many. */
const stayTips = 1000
/** Between two troubles, tips. */
const calmTips = 600
const betweenCutsTips = 200
/** Room for a loaded machine; on an idle one it takes a second, or three where the tail is needed. */
const settleMs = 30_000

const allWallets = [...wallets, ...quietWallets]
const random = randomFrom(seed)
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

/**
 * Confirms tips of random wallets, many of one wallet in a batch now and then, until the run is over. The pace is
 * that of somebody who comes after each batch and is given what was before.
 */
async function write(
  run: Progress,
  services: ReturnType<typeof compose>,
  urls: readonly string[],
): Promise<void> {
  while (!run.over) {
    const favourite = pick(wallets)
    const batch = Array.from({ length: 1 + Math.floor(random() * mostTipsPerBatch) }, () =>
      random() < 0.3 ? favourite : pick(wallets),
    )
    run.add((await plantConfirmed(services, batch)).length)
    const latecomer = openStream(pick(urls), pick(batch), '0')
    await until('a latecomer is given the past', () => latecomer.tips.length > 0, settleMs)
    latecomer.close()
  }
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
  const urls = webs.map(({ url }) => url)
  const run = new Progress()
  t.teardown(() => run.end())
  const services = compose(loadConfig(env), 'test')
  t.teardown(() => services.close())

  const steady = Array.from({ length: steadyReaders }, (_, index) => {
    const wallet = allWallets[index % allWallets.length] as string
    const stream = openStream(urls[index % 2] as string, wallet)
    t.teardown(stream.close)
    return { wallet, stream }
  })
  await until('the steady readers are connected', () =>
    steady.every(({ stream }) => stream.body().includes('"connected"')),
  )
  const travellers = Array.from({ length: wanderers }, () => new Wanderer(pick(wallets)))
  t.teardown(() => {
    for (const reader of travellers) reader.leave()
  })
  const urlOf = (): string => pick(urls)
  const stay = (): number => random() * stayTips
  const wandering = Promise.all(travellers.map((reader) => reader.wander(run, urlOf, stay)))
  const writing = Promise.all(Array.from({ length: writers }, () => write(run, services, urls)))
  async function tipQuietly(quiet: readonly string[]): Promise<void> {
    run.add((await plantConfirmed(services, quiet)).length)
  }
  await trouble(run, redis, tipQuietly, () =>
    steady.filter(({ stream }) => stream.tips.length > 0).map(({ wallet }) => wallet),
  )
  run.end()
  await Promise.all([writing, wandering])

  const expected = new Map<string, number[]>()
  for (const wallet of allWallets) expected.set(wallet, await stampsOf(world().db, wallet))
  const stampsFor = (wallet: string): number[] => expected.get(wallet) ?? []
  for (const reader of travellers) if (reader.seen.length > 0) reader.open(pick(urls))
  await until(
    'every reader is where it should be',
    () =>
      steady.every(({ wallet, stream }) => stream.tips.length >= stampsFor(wallet).length) &&
      travellers.every(({ wallet, all }) => all.length === 0 || all.at(-1) === stampsFor(wallet).at(-1)),
    settleMs,
  ).catch((error: unknown) => t.log(String(error)))

  const connections = travellers.reduce((sum, reader) => sum + reader.connections, 0)
  t.log(
    `${run.done} tips, ${connections} connections of ${wanderers} wanderers, ${steady.reduce((sum, { stream }) => sum + stream.tips.length, 0)} events at ${steadyReaders} steady readers`,
  )
  t.is([...expected.values()].flat().length, run.done)
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

/**
 * Three times both subscriber connections are broken, then Redis crashes and comes back empty. The first half of the
 * quiet wallets is tipped early while it is away and must be found without it, the second half just before its return.
 */
async function trouble(
  run: Progress,
  redis: PrivateRedis,
  tipQuietly: (wallets: readonly string[]) => Promise<void>,
  walletsReached: () => string[],
): Promise<void> {
  await run.more(calmTips)
  for (let cut = 0; cut < 3; cut++) {
    await until('both processes subscribe', async () => (await subscribers(redis)) === 2)
    await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await run.more(betweenCutsTips)
  }
  await redis.kill()
  const half = quietWallets.length / 2
  await tipQuietly(quietWallets.slice(0, half))
  await until(
    'the tail finds quiet wallets',
    () => quietWallets.slice(0, half).every((wallet) => walletsReached().includes(wallet)),
    settleMs,
  )
  await run.more(calmTips)
  await tipQuietly(quietWallets.slice(half))
  await redis.startAgain()
  await run.more(calmTips)
}

async function subscribers(redis: PrivateRedis): Promise<number> {
  return String(await redis.command('CLIENT', 'LIST', 'TYPE', 'PUBSUB')).match(/^id=/gm)?.length ?? 0
}

/** As many channels as wallets are read, after everything: no subscription was lost or forgotten. */
async function channelsAre(t: ExecutionContext, redis: PrivateRedis, wanted: number): Promise<void> {
  let channels = -1
  await until('the subscriptions are those of the readers', async () => {
    channels = ((await redis.command('PUBSUB', 'CHANNELS')) as string[]).length
    return channels === wanted
  }).catch(() => undefined)
  t.is(channels, wanted)
}
