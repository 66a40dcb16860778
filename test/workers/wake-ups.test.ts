import test, { type ExecutionContext } from 'ava'
import { Queue } from 'bullmq'
import { createWaker, queuePrefix, type WorkKind } from '../../src/platform/queue/wake-ups.js'
import { createProducerClient, createWorkerClient } from '../../src/platform/redis/clients.js'
import { type BatchReport, createBatchLoop } from '../../src/platform/worker/batch-loop.js'
import { startWorker } from '../../src/platform/worker/worker.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { payOnChain, postClaim } from '../helpers/make/landed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { type PrivateRedis, privateRedis } from '../helpers/servers/private-redis.js'
import { as } from '../helpers/servers/roles.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** A worker whose batches are recorded by their start time. */
function countingWorker(t: ExecutionContext, redisUrl: string, batch?: () => Promise<BatchReport>) {
  const batchTimes: number[] = []
  const worker = startWorker({
    kind: 'verifier',
    batch: async () => {
      batchTimes.push(performance.now())
      return (await batch?.()) ?? { taken: 0 }
    },
    redis: { url: redisUrl, namespace: 'wake' },
    concurrency: 1,
    onError: (error) => t.log(error),
  })
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= worker.stop()
    return stopping
  }
  t.teardown(stop)
  return { batchTimes, stop }
}

async function openQueue(
  t: ExecutionContext,
  { url }: PrivateRedis,
  kind: WorkKind = 'verifier',
): Promise<Queue> {
  const connection = createWorkerClient({ url })
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
  const redis = createProducerClient({ url })
  const waker = createWaker(redis, 'wake')
  t.teardown(async () => {
    await waker.close()
    redis.disconnect()
  })
  await until('the producer is connected', () => redis.status === 'ready')
  return waker
}

/** How often Redis has run each command so far. */
async function countCommands(redis: PrivateRedis): Promise<Map<string, number>> {
  const lines = String(await redis.command('INFO', 'commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)
  return new Map([...lines].map(([, name = '', calls]) => [name, Number(calls)]))
}

/** The number of all commands, without those of this query. */
async function countAllCommands(redis: PrivateRedis): Promise<number> {
  const counted = [...(await countCommands(redis))].filter(([name]) => !/^info|hello|client/.test(name))
  return counted.reduce((sum, [, calls]) => sum + calls, 0)
}

/** Jobs sent so far. Each is one call of a BullMQ script. */
async function countJobs(redis: PrivateRedis): Promise<number> {
  return (await countCommands(redis)).get('evalsha') ?? 0
}

test('many wake-ups within one window are one job at its beginning and one at its end', async (t) => {
  const redis = await privateRedis(t)
  const [waker, queue] = [await openWaker(t, redis), await openQueue(t, redis)]
  for (let call = 0; call < 1000; call++) waker.wake('verifier')
  await until('both jobs are there', async () => (await queue.count()) === 2)
  // Windows of another kind measure the time: ten of them take longer than one of the verifier's.
  const other = await openQueue(t, redis, 'provisioner')
  for (let jobs = 1; jobs <= 10; jobs++) {
    waker.wake('provisioner')
    await until('the other kind is woken', async () => (await other.count()) === jobs)
  }
  t.is(await queue.count(), 2, 'no job follows without a wake-up')
  waker.wake('verifier')
  await until('a later wake-up is a job of its own', async () => (await queue.count()) === 3)
})

test('the job of a row is its wake-up: no other one is sent for it', async (t) => {
  const redis = await privateRedis(t)
  const [waker, queue] = [await openWaker(t, redis), await openQueue(t, redis)]
  const origin = { requestId: null, traceId: null }
  for (const row of ['a', 'b', 'a']) waker.wake('verifier', { id: `row-${row}`, row, origin })
  waker.wake('verifier')
  await until('the last one is there', async () => (await queue.count()) === 3)
  const names = (await queue.getJobs()).map(({ name }) => name)
  t.deepEqual(names.sort(), ['row', 'row', 'wake'])
})

test('wake-ups during a batch cause exactly one more batch', async (t) => {
  let release: () => void = () => undefined
  const held = new Promise<void>((done) => {
    release = done
  })
  let batches = 0
  const loop = createBatchLoop(
    async () => {
      batches += 1
      if (batches === 1) await held
      return { taken: 0 }
    },
    (error) => t.log(error),
  )
  t.teardown(() => loop.stop())
  const first = loop.wake()
  await until('the first batch runs', () => batches === 1)
  for (let call = 0; call < 50; call++) void loop.wake()
  release()
  await first
  t.is(batches, 2)
})

// Serial: its load would delay the other tests of this file.
test.serial('recording 500 tips concurrently costs Redis less than one command per tip', async (t) => {
  const redis = await privateRedis(t)
  const app = await startApp(t, {
    ...world().env,
    DATABASE_URL: await world().newDatabaseUrl(),
    REDIS_URL: redis.url,
  })
  const wallet = unusedWallet()
  t.is((await postClaim(app.url, payOnChain(world().sandbox, wallet))).status, 200)
  const tips = Array.from({ length: 500 }, () => payOnChain(world().sandbox, wallet))
  await until('the app reaches Redis', async () => {
    app.services.wake('verifier')
    return (await countJobs(redis)) > 0
  })
  const before = await countAllCommands(redis)
  const startedAt = performance.now()
  const answers = await Promise.all(tips.map((tip) => postClaim(app.url, tip)))
  // When the jobs of two further wake-ups have arrived, every job of the tips has arrived.
  for (let wake = 0; wake < 2; wake++) {
    const jobs = await countJobs(redis)
    app.services.wake('verifier')
    await until('one more job is there', async () => (await countJobs(redis)) > jobs)
  }
  const ms = performance.now() - startedAt
  const commands = (await countAllCommands(redis)) - before
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  t.log(`${commands} commands for 500 tips in ${Math.round(ms)} ms`)
  // A job costs at most about 30 commands, including those of scripts. There are four jobs per second plus one.
  t.true(commands <= 32 * (Math.ceil(ms / 250) + 2), `${commands}`)
})

test('a worker without wake-ups runs a batch every two seconds', async (t) => {
  const redis = await privateRedis(t)
  const { batchTimes } = countingWorker(t, redis.url)
  await until('three batches have run', () => batchTimes.length >= 3)
  const pauses = batchTimes.slice(1).map((at, index) => at - (batchTimes[index] ?? 0))
  t.true(
    pauses.every((ms) => ms > 1500 && ms < 20_000),
    `${pauses}`,
  )
})

test('tips are confirmed once although every job is doubled and two workers run', async (t) => {
  const { services, sandbox, url, db } = world()
  const redis = await privateRedis(t)
  const queue = await openQueue(t, redis)
  const one = countingWorker(t, redis.url, createVerifierBatch(as('verifier', services)))
  const two = countingWorker(t, redis.url, createVerifierBatch(as('verifier', services)))
  const wallet = unusedWallet()
  const tips = Array.from({ length: 20 }, () => payOnChain(sandbox, wallet))
  for (const tip of tips) {
    t.is((await postClaim(url, tip)).status, 200)
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
  await until('both have run', () => one.batchTimes.length > 0 && two.batchTimes.length > 0)
})

test('the job of a row that gets its outcome while the job fails is removed', async (t) => {
  const redis = await privateRedis(t)
  const queue = await openQueue(t, redis)
  const failures = ['the provider is unavailable', undefined]
  const worker = startWorker({
    kind: 'verifier',
    batch: async () => ({ taken: 0 }),
    redis: { url: redis.url, namespace: 'wake' },
    concurrency: 1,
    onError: (error) => t.log(error),
    jobFailure: async () => failures.shift(),
  })
  t.teardown(() => worker.stop())
  await queue.add('row', { row: 'a' }, { jobId: 'row-a' })
  await until('its outcome was read again', () => failures.length === 0)
  await until('the job is gone', async () => (await queue.getJob('row-a')) === undefined)
  t.is(await queue.getFailedCount(), 0)
})

test('a worker is woken again after Redis was restarted', async (t) => {
  const redis = await privateRedis(t)
  const { batchTimes } = countingWorker(t, redis.url)
  await until('a batch runs', () => batchTimes.length > 0)
  await redis.kill()
  const before = batchTimes.length
  await until('a batch runs without Redis', () => batchTimes.length > before)
  await redis.startAgain()
  const queue = await openQueue(t, redis)
  const waits: number[] = []
  await until('a job wakes it quickly again', async () => {
    const sentAt = performance.now()
    await queue.add('wake', {}, { removeOnComplete: true })
    await until('a batch runs', () => (batchTimes.at(-1) ?? 0) >= sentAt)
    waits.push(Math.round(performance.now() - sentAt))
    return waits.slice(-3).length === 3 && waits.slice(-3).every((ms) => ms < 500)
  })
  t.log(`after ${waits.join(', ')} ms`)
  t.pass()
})

for (const how of ['freeze', 'kill'] as const)
  test(`a worker stops within seconds after Redis was ${how === 'freeze' ? 'frozen' : 'killed'}`, async (t) => {
    const redis = await privateRedis(t)
    const { batchTimes, stop } = countingWorker(t, redis.url)
    const queue = await openQueue(t, redis)
    for (let job = 0; job < 3; job++) {
      const seen = batchTimes.length
      await queue.add('wake', {}, { removeOnComplete: true })
      await until('it is woken', () => batchTimes.length > seen)
    }
    await redis[how]()
    const startedAt = performance.now()
    await stop()
    const ms = performance.now() - startedAt
    t.log(`closed after ${Math.round(ms)} ms`)
    t.true(ms < 15_000, `${ms} ms`)
  })
