import test, { type ExecutionContext } from 'ava'
import type { Knex } from 'knex'
import { createDb } from '../../src/platform/database/database.js'
import { follow, type StreamReader } from '../helpers/http/stream-reader.js'
import { confirmedStamps } from '../helpers/make/confirmed-tips.js'
import { type PostAnswer, payOnChain, postClaim } from '../helpers/make/landed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { type PrivateRedis, privateRedis } from '../helpers/servers/private-redis.js'
import { startWeb, startWorkerProcess, type WebProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until, untilSlotsPass, waitSince } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** Between two tips of the load. */
const paceSlots = 3
/** For how long Redis does not answer. */
const frozenMs = 10_000
/** No request waits for Redis: every one is answered before it would answer. */
const answerMs = 8000

interface Stack {
  readonly db: Knex
  readonly redis: PrivateRedis
  readonly web: WebProcess
  readonly wallet: string
  readonly reader: StreamReader
}

/** A web process and a verifier with their own Redis and database, and a reader of one wallet's stream. */
async function startStack(t: ExecutionContext): Promise<Stack> {
  const [redis, databaseUrl] = await Promise.all([privateRedis(t), world().newDatabaseUrl()])
  const env = { ...world().env, DATABASE_URL: databaseUrl, REDIS_URL: redis.url }
  const db = createDb(databaseUrl, 1)
  t.teardown(() => db.destroy())
  const [web] = await Promise.all([startWeb(t, env), startWorkerProcess(t, 'verifier', env)])
  const wallet = unusedWallet()
  return { db, redis, web, wallet, reader: await follow(t, web.url, wallet) }
}

/** Pays and records tips at an even pace until stopped, without waiting for the answers. */
function startLoad({ web, wallet }: Stack): () => Promise<PostAnswer[]> {
  let stopped = false
  const posts: Promise<PostAnswer>[] = []
  const running = (async () => {
    for (; !stopped; await untilSlotsPass(world().sandbox, paceSlots))
      posts.push(postClaim(web.url, payOnChain(world().sandbox, wallet)))
  })()
  return async () => {
    stopped = true
    await running
    return Promise.all(posts)
  }
}

/** The answer of `/ready`, and its time in ms. */
async function readReadiness(url: string): Promise<{ readonly answer: unknown[]; readonly ms: number }> {
  const startedAt = performance.now()
  const response = await fetch(`${url}/ready`, { headers: { connection: 'close' } })
  const answer = [response.status, ((await response.json()) as { status: string }).status]
  return { answer, ms: performance.now() - startedAt }
}

/** Asserts that every recorded tip is on the stream, once and in order. */
async function assertAllStreamed(t: ExecutionContext, stack: Stack, recorded: number): Promise<void> {
  await until(`${recorded} tips are streamed`, () => stack.reader.tips.length >= recorded)
  const stamps = await confirmedStamps(stack.db, stack.wallet)
  t.is(stamps.length, recorded)
  t.deepEqual(
    stack.reader.tips.map(({ id }) => id),
    stamps,
  )
}

function assertAllQuick(t: ExecutionContext, answers: readonly PostAnswer[]): void {
  t.true(answers.length > 0)
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const slowest = Math.max(...answers.map(({ ms }) => ms))
  t.log(`${answers.length} tips recorded, the slowest in ${Math.round(slowest)} ms`)
  t.true(slowest < answerMs, `${slowest} ms`)
}

/** The ms from recording a tip to its event on the stream. */
async function measureOneTip(stack: Stack): Promise<number> {
  const seen = stack.reader.tips.length
  const { status } = await postClaim(stack.web.url, payOnChain(world().sandbox, stack.wallet))
  if (status !== 200) throw new Error(`${status}`)
  const startedAt = performance.now()
  await until('the tip is streamed', () => stack.reader.tips.length > seen)
  return performance.now() - startedAt
}

const wokenMs = 1500

/** Asserts that wake-ups work: three tips in a row are quicker than polling alone. A busy machine may need more tips. */
async function assertWakeUpsWork(t: ExecutionContext, stack: Stack): Promise<void> {
  const waits: number[] = []
  const slowest = () => Math.max(...waits.slice(-3))
  for (let turn = 0; turn < 12 && (turn < 3 || slowest() >= wokenMs); turn++)
    waits.push(await measureOneTip(stack))
  t.log(`woken: streamed after ${waits.map(Math.round).join(', ')} ms`)
  t.true(slowest() < wokenMs, `${waits}`)
}

test('flushing Redis again and again loses no tip and no event', async (t) => {
  t.timeout(120_000)
  const stack = await startStack(t)
  const stop = startLoad(stack)
  for (let flush = 1; flush <= 10; flush++) {
    const enough = flush * 5
    await until('some more tips are streamed', () => stack.reader.tips.length >= enough)
    await stack.redis.command('FLUSHALL')
  }
  const answers = await stop()
  assertAllQuick(t, answers)
  await assertAllStreamed(t, stack, answers.length)
  await assertWakeUpsWork(t, stack)
})

test('a Redis that is frozen for ten seconds delays no request, no confirmation and no stream', async (t) => {
  t.timeout(120_000)
  const stack = await startStack(t)
  await assertWakeUpsWork(t, stack)
  const before = stack.reader.tips.length
  stack.redis.freeze()
  const frozenAt = performance.now()
  const stop = startLoad(stack)
  await until('tips are streamed without Redis', () => stack.reader.tips.length > before)
  const firstMs = performance.now() - frozenAt
  await waitSince(frozenAt, frozenMs)
  const streamed = stack.reader.tips.length
  stack.redis.thaw()
  const answers = await stop()
  assertAllQuick(t, answers)
  t.log(`the first one streamed after ${Math.round(firstMs)} ms, ${streamed - before} while it was frozen`)
  t.true(firstMs < frozenMs, 'before Redis answers again')
  t.true(streamed - before > 1)
  await assertAllStreamed(t, stack, before + answers.length)
  await assertWakeUpsWork(t, stack)
})

test('the service works without a crashed Redis, and uses it again after its restart', async (t) => {
  t.timeout(120_000)
  const stack = await startStack(t)
  await assertWakeUpsWork(t, stack)
  const before = stack.reader.tips.length
  await stack.redis.kill()
  const stop = startLoad(stack)
  t.deepEqual((await readReadiness(stack.web.url)).answer, [200, 'degraded'])
  await until('tips are streamed without Redis', () => stack.reader.tips.length > before + 3)
  await stack.redis.startAgain()
  const answers = await stop()
  assertAllQuick(t, answers)
  await assertAllStreamed(t, stack, before + answers.length)
  await until('the subscription is back', async () =>
    /\S/.test(String(await stack.redis.command('PUBSUB', 'CHANNELS'))),
  )
  await assertWakeUpsWork(t, stack)
  t.true(stack.web.isRunning())
})

test('readiness is degraded while Redis hangs, and ok again afterwards', async (t) => {
  const redis = await privateRedis(t)
  const web = await startWeb(t, { ...world().env, REDIS_URL: redis.url })
  const isOk = async () => (await readReadiness(web.url)).answer[1] === 'ok'
  await until('it is ready', isOk)
  redis.freeze()
  for (let turn = 0; turn < 3; turn++) {
    const { answer, ms } = await readReadiness(web.url)
    t.deepEqual(answer, [200, 'degraded'])
    t.true(ms < answerMs, `${ms} ms`)
  }
  redis.thaw()
  await until('it is ready again', isOk)
})
