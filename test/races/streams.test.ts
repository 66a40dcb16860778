import test, { type ExecutionContext } from 'ava'
import type { compose } from '../../src/compose.js'
import { ReconnectingReader, RunProgress } from '../helpers/http/reconnecting-reader.js'
import { openStream } from '../helpers/http/stream-reader.js'
import { confirmedStamps, createConfirmedSolTips } from '../helpers/make/confirmed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { seededRandom } from '../helpers/random.js'
import { type PrivateRedis, privateRedis } from '../helpers/servers/private-redis.js'
import { composeAs } from '../helpers/servers/roles.js'
import { startWeb } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 2 ** 31)
const wallets = Array.from({ length: 60 }, unusedWallet)
/** Each gets one tip, while Redis is unavailable, so only the polling of the streams finds it. */
const quietWallets = Array.from({ length: 20 }, unusedWallet)
const steadyReaders = 100
const wanderers = 600
const writers = 3
const maxTipsPerBatch = 8
/** A wandering reader stays connected for at most so many tips of the run, and disconnected for at most half as many. */
const stayTips = 1000
/** Tips between two faults. */
const calmTips = 600
const betweenCutsTips = 200
const allWallets = [...wallets, ...quietWallets]
const random = seededRandom(seed)
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

/**
 * Confirms tips of random wallets until the run is over, now and then many of one wallet in a batch. After each batch it
 * waits until a new reader has received the earlier tips.
 */
async function write(
  run: RunProgress,
  services: ReturnType<typeof compose>,
  urls: readonly string[],
): Promise<void> {
  while (!run.over) {
    const favourite = pick(wallets)
    const batch = Array.from({ length: 1 + Math.floor(random() * maxTipsPerBatch) }, () =>
      random() < 0.3 ? favourite : pick(wallets),
    )
    run.add((await createConfirmedSolTips(services, batch)).length)
    const newReader = openStream(pick(urls), pick(batch), '0')
    await until('a new reader receives the earlier tips', () => newReader.tips.length > 0)
    newReader.close()
  }
}

/** Whether a reader got all of the wallet's tips from its first one on, and none after `since` is missing. */
function isWhole(seen: readonly number[], stamps: readonly number[], since: number): boolean {
  const owed = stamps.filter((stamp) => stamp > since).length
  return (
    seen.length >= owed &&
    JSON.stringify(seen) === JSON.stringify(seen.length === 0 ? [] : stamps.slice(-seen.length))
  )
}

test('every reader gets every tip of its wallet once and in order, through faults of Redis and reconnects', async (t) => {
  t.timeout(400_000)
  t.log(`TEST_SEED=${seed}`)
  const redis = await privateRedis(t)
  const env = { ...world().env, REDIS_URL: redis.url }
  const webs = await Promise.all([startWeb(t, env), startWeb(t, env)])
  const urls = webs.map(({ url }) => url)
  const run = new RunProgress()
  t.teardown(() => run.end())
  const services = composeAs('verifier', env)
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
  const travellers = Array.from({ length: wanderers }, () => new ReconnectingReader(pick(wallets)))
  t.teardown(() => {
    for (const reader of travellers) reader.disconnect()
  })
  const urlOf = (): string => pick(urls)
  const stay = (): number => random() * stayTips
  const wandering = Promise.all(travellers.map((reader) => reader.reconnectUntilOver(run, urlOf, stay)))
  const writing = Promise.all(Array.from({ length: writers }, () => write(run, services, urls)))
  async function tipQuietly(quiet: readonly string[]): Promise<void> {
    run.add((await createConfirmedSolTips(services, quiet)).length)
  }
  await causeFaults(run, redis, tipQuietly, () =>
    steady.filter(({ stream }) => stream.tips.length > 0).map(({ wallet }) => wallet),
  )
  run.end()
  await Promise.all([writing, wandering])

  const expected = new Map<string, number[]>()
  for (const wallet of allWallets) expected.set(wallet, await confirmedStamps(world().db, wallet))
  const stampsFor = (wallet: string): number[] => expected.get(wallet) ?? []
  for (const reader of travellers) if (reader.seen.length > 0) reader.open(pick(urls))
  await until(
    'every reader has the last tip of its wallet',
    () => {
      for (const reader of travellers) reader.reopenIfClosed(pick(urls))
      return (
        steady.every(({ wallet, stream }) => stream.tips.length >= stampsFor(wallet).length) &&
        travellers.every(
          ({ wallet, allSeen }) => allSeen.length === 0 || allSeen.at(-1) === stampsFor(wallet).at(-1),
        )
      )
    },
    120_000,
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
  const torn = travellers.filter(
    ({ wallet, allSeen, owedSince }) => !isWhole(allSeen, stampsFor(wallet), owedSince),
  )
  t.is(torn.length, 0, 'wanderers with a hole, a repetition or disorder')
  t.true(travellers.filter(({ seen }) => seen.length > 0).length > wanderers / 2)
  await assertChannels(
    t,
    redis,
    new Set(
      [...steady, ...travellers.filter(({ allSeen }) => allSeen.length > 0)].map(({ wallet }) => wallet),
    ).size,
  )
})

/**
 * Breaks both subscriber connections three times; then Redis crashes and restarts empty. The first half of the quiet wallets
 * gets its tips early in the outage, and the readers must get them without Redis; the second half just before the restart.
 */
async function causeFaults(
  run: RunProgress,
  redis: PrivateRedis,
  tipQuietly: (wallets: readonly string[]) => Promise<void>,
  walletsReached: () => string[],
): Promise<void> {
  await run.untilMore(calmTips)
  for (let cut = 0; cut < 3; cut++) {
    await until('both processes subscribe', async () => (await subscribers(redis)) === 2)
    await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await run.untilMore(betweenCutsTips)
  }
  await redis.kill()
  const half = quietWallets.length / 2
  await tipQuietly(quietWallets.slice(0, half))
  await until('the tips of quiet wallets are found without Redis', () =>
    quietWallets.slice(0, half).every((wallet) => walletsReached().includes(wallet)),
  )
  await run.untilMore(calmTips)
  await tipQuietly(quietWallets.slice(half))
  await redis.startAgain()
  await run.untilMore(calmTips)
}

async function subscribers(redis: PrivateRedis): Promise<number> {
  return String(await redis.command('CLIENT', 'LIST', 'TYPE', 'PUBSUB')).match(/^id=/gm)?.length ?? 0
}

/** Asserts at the end that there are as many channels as wallets with readers. */
async function assertChannels(t: ExecutionContext, redis: PrivateRedis, wanted: number): Promise<void> {
  let channels = -1
  await until('the channels are those of the readers', async () => {
    channels = ((await redis.command('PUBSUB', 'CHANNELS')) as string[]).length
    return channels === wanted
  }).catch(() => undefined)
  t.is(channels, wanted)
}
