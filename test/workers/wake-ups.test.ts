import test, { type ExecutionContext } from 'ava'
import { Queue } from 'bullmq'
import { createWaker, queuePrefix, type WorkKind } from '../../src/platform/queue/wake-ups.js'
import { createProducerClient, createWorkerClient } from '../../src/platform/redis/clients.js'
import { type BatchReport, createBatchLoop } from '../../src/platform/worker/batch-loop.js'
import { startWorker } from '../../src/platform/worker/worker.js'
import { createVerifierBatch } from '../../src/tips/verify/verify-tips.js'
import { payTip, postTip } from '../helpers/make/chain-tips.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { type PrivateRedis, privateRedis } from '../helpers/servers/private-redis.js'
import { startApp } from '../helpers/servers/second-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** A worker over a batch that only counts. */
function countingWorker(t: ExecutionContext, redisUrl: string, batch?: () => Promise<BatchReport>) {
  const looks: number[] = []
  const worker = startWorker({
    kind: 'verifier',
    batch: async () => {
      looks.push(performance.now())
      return (await batch?.()) ?? { taken: 0 }
    },
    redisUrl,
    concurrency: 1,
    namespace: 'wake',
    onError: (error) => t.log(error),
  })
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= worker.stop()
    return stopping
  }
  t.teardown(stop)
  return { looks, stop }
}

async function openQueue(
  t: ExecutionContext,
  { url }: PrivateRedis,
  kind: WorkKind = 'verifier',
): Promise<Queue> {
  const connection = createWorkerClient(url)
  const queue = new Queue(kind, {
    connection: connection.client,
    prefix: queuePrefix('wake'),
    skipVersionCheck: true,
  })
  t.teardown(async () => {
    await queue.close()
    connection.disconnect()
  })
  await queue.waitUntilReady()
  return queue
}

async function openWaker(t: ExecutionContext, { url }: PrivateRedis) {
  const redis = createProducerClient(url)
  const waker = createWaker(redis, 'wake')
  t.teardown(async () => {
    await waker.close()
    redis.disconnect()
  })
  await until('the producer is connected', () => redis.status === 'ready')
  return waker
}

/** How often Redis has carried out each command so far. */
async function commandsOf(redis: PrivateRedis): Promise<Map<string, number>> {
  const lines = String(await redis.command('INFO', 'commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)
  return new Map([...lines].map(([, name = '', calls]) => [name, Number(calls)]))
}

/** All of them together, those of asking this question left out. */
async function totalOf(redis: PrivateRedis): Promise<number> {
  const counted = [...(await commandsOf(redis))].filter(([name]) => !/^info|hello|client/.test(name))
  return counted.reduce((sum, [, calls]) => sum + calls, 0)
}

/** Jobs sent so far: each is one call of BullMQ's script. */
async function jobsOf(redis: PrivateRedis): Promise<number> {
  return (await commandsOf(redis)).get('evalsha') ?? 0
}

test('many wake-ups of one window are one job at its beginning and one at its end', async (t) => {
  const redis = await privateRedis(t)
  const [waker, queue] = [await openWaker(t, redis), await openQueue(t, redis)]
  for (let call = 0; call < 1000; call++) waker.wake('verifier')
  await until('the first job is there', async () => (await queue.count()) === 1)
  await until('the last job is there', async () => (await queue.count()) === 2)
  // The windows of another kind are the clock: ten of them in a row take longer than one of the verifier's.
  const other = await openQueue(t, redis, 'provisioner')
  for (let jobs = 1; jobs <= 10; jobs++) {
    waker.wake('provisioner')
    await until('the other kind is woken', async () => (await other.count()) === jobs)
  }
  t.is(await queue.count(), 2, 'nothing follows when nothing was asked')
  waker.wake('verifier')
  await until('a later wake-up is a job of its own', async () => (await queue.count()) === 3)
})

test('a wake-up that comes while the worker looks makes it look once more', async (t) => {
  let release: () => void = () => undefined
  const held = new Promise<void>((done) => {
    release = done
  })
  let looks = 0
  const loop = createBatchLoop(
    async () => {
      looks += 1
      if (looks === 1) await held
      return { taken: 0 }
    },
    (error) => t.log(error),
  )
  t.teardown(() => loop.stop())
  const first = loop.wake()
  await until('it looks', () => looks === 1)
  for (let call = 0; call < 50; call++) void loop.wake()
  release()
  await first
  t.is(looks, 2)
})

// Alone: what it does at once would make every other test of this file late.
test.serial('five hundred tips recorded at once cost Redis less than one command each', async (t) => {
  const redis = await privateRedis(t)
  const app = await startApp(t, {
    ...world().env,
    DATABASE_URL: await world().newDatabaseUrl(),
    REDIS_URL: redis.url,
  })
  const wallet = strangerWallet()
  t.is((await postTip(app.url, payTip(world().sandbox, wallet))).status, 200)
  const tips = Array.from({ length: 500 }, () => payTip(world().sandbox, wallet))
  await until('the app reaches Redis', async () => {
    app.services.wake('verifier')
    return (await jobsOf(redis)) > 0
  })
  const before = await totalOf(redis)
  const startedAt = performance.now()
  const answers = await Promise.all(tips.map((tip) => postTip(app.url, tip)))
  // When the jobs of two wake-ups more are there, so is every job the tips have caused.
  for (let wake = 0; wake < 2; wake++) {
    const jobs = await jobsOf(redis)
    app.services.wake('verifier')
    await until('one more job is there', async () => (await jobsOf(redis)) > jobs)
  }
  const ms = performance.now() - startedAt
  const commands = (await totalOf(redis)) - before
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  t.log(`${commands} commands for 500 tips in ${Math.round(ms)} ms`)
  // A job is at most some thirty commands, scripts' own included, and there are four a second and one more.
  t.true(commands <= 32 * (Math.ceil(ms / 250) + 2), `${commands}`)
})

test('a worker nobody wakes looks every two seconds', async (t) => {
  const redis = await privateRedis(t)
  const { looks } = countingWorker(t, redis.url)
  await until('it has looked three times', () => looks.length >= 3)
  const pauses = looks.slice(1).map((at, index) => at - (looks[index] ?? 0))
  t.true(
    pauses.every((ms) => ms > 1500 && ms < 3000),
    `${pauses}`,
  )
})

test('a job that comes twice only makes the worker look twice', async (t) => {
  const { services, sandbox, url, db } = world()
  const redis = await privateRedis(t)
  const queue = await openQueue(t, redis)
  const one = countingWorker(t, redis.url, createVerifierBatch(services))
  const two = countingWorker(t, redis.url, createVerifierBatch(services))
  const wallet = strangerWallet()
  const tips = Array.from({ length: 20 }, () => payTip(sandbox, wallet))
  for (const tip of tips) {
    t.is((await postTip(url, tip)).status, 200)
    await queue.addBulk(Array(3).fill({ name: 'wake', data: {} }))
  }
  const confirmed = () => db('tips').where({ creator_wallet: wallet, status: 'confirmed' })
  await until('all tips are confirmed', async () => (await confirmed()).length === tips.length)
  const stamps = (await confirmed()).map(({ confirmed_at }) => confirmed_at.getTime())
  t.is(new Set(stamps).size, tips.length)
  await until(
    'every job is done',
    async () => (await queue.getJobCountByTypes('wait', 'active', 'failed')) === 0,
  )
  t.true(one.looks.length > 0 && two.looks.length > 0)
})

test('a worker is woken again after Redis was restarted', async (t) => {
  const redis = await privateRedis(t)
  const { looks } = countingWorker(t, redis.url)
  await until('it looks', () => looks.length > 0)
  await redis.kill()
  const alone = looks.length
  await until('it looks without Redis', () => looks.length > alone)
  await redis.startAgain()
  const queue = await openQueue(t, redis)
  const waits: number[] = []
  await until('it answers a job again', async () => {
    const askedAt = performance.now()
    await queue.add('wake', {}, { removeOnComplete: true })
    await until('it looks', () => (looks.at(-1) ?? 0) >= askedAt)
    waits.push(Math.round(performance.now() - askedAt))
    return waits.slice(-3).length === 3 && waits.slice(-3).every((ms) => ms < 500)
  })
  t.log(`after ${waits.join(', ')} ms`)
  t.pass()
})

for (const how of ['freeze', 'kill'] as const)
  test(`a worker closes in bounded time after a ${how} of Redis`, async (t) => {
    const redis = await privateRedis(t)
    const { looks, stop } = countingWorker(t, redis.url)
    const queue = await openQueue(t, redis)
    for (let job = 0; job < 3; job++) {
      const seen = looks.length
      await queue.add('wake', {}, { removeOnComplete: true })
      await until('it is woken', () => looks.length > seen)
    }
    await redis[how]()
    const startedAt = performance.now()
    await stop()
    const ms = performance.now() - startedAt
    t.log(`closed after ${Math.round(ms)} ms`)
    t.true(ms < 4000, `${ms} ms`)
  })
