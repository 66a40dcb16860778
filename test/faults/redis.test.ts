import test, { type ExecutionContext } from 'ava'
import type { Knex } from 'knex'
import { createDb } from '../../src/platform/database/database.js'
import { follow, type StreamReader } from '../helpers/http/stream-reader.js'
import { type PostAnswer, payTip, postTip } from '../helpers/make/chain-tips.js'
import { stampsOf } from '../helpers/make/confirmed-tips.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { outageLasts } from '../helpers/servers/outage.js'
import { type PrivateRedis, privateRedis } from '../helpers/servers/private-redis.js'
import { startWeb, startWorkerProcess, type WebProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { slotsPass } from '../helpers/slots.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** Between two tips of the load. */
const paceSlots = 3
/** How long the service must bear a Redis that does not answer. */
const frozenMs = 10_000
/** Without a wake-up the verifier looks every 2 s, and without a hint the streams every 3 s. */
const ownRhythmMs = 5000
/** Room for a loaded machine. */
const slackMs = 2500
/** Contract of the fault: nothing in a request waits for Redis. */
const answerMs = 1000

interface Stack {
  readonly db: Knex
  readonly redis: PrivateRedis
  readonly web: WebProcess
  readonly wallet: string
  readonly reader: StreamReader
}

/** A web process and a verifier on a Redis and a database of their own, and a reader of one wallet's stream. */
async function startStack(t: ExecutionContext): Promise<Stack> {
  const [redis, databaseUrl] = await Promise.all([privateRedis(t), world().newDatabaseUrl()])
  const env = { ...world().env, DATABASE_URL: databaseUrl, REDIS_URL: redis.url }
  const db = createDb(databaseUrl, 1)
  t.teardown(() => db.destroy())
  const [web] = await Promise.all([startWeb(t, env), startWorkerProcess(t, 'verifier', env)])
  const wallet = strangerWallet()
  return { db, redis, web, wallet, reader: await follow(t, web.url, wallet) }
}

/** Pays and records tips at an even pace until told to stop, whether or not the earlier ones are answered. */
function startLoad({ web, wallet }: Stack): () => Promise<PostAnswer[]> {
  let stopped = false
  const posts: Promise<PostAnswer>[] = []
  const running = (async () => {
    for (; !stopped; await slotsPass(world().sandbox, paceSlots))
      posts.push(postTip(web.url, payTip(world().sandbox, wallet)))
  })()
  return async () => {
    stopped = true
    await running
    return Promise.all(posts)
  }
}

/** What a process answers when it is asked whether it is ready, and in how many ms. */
async function readyOf(url: string): Promise<{ readonly answer: unknown[]; readonly ms: number }> {
  const askedAt = performance.now()
  const response = await fetch(`${url}/ready`, { headers: { connection: 'close' } })
  const answer = [response.status, ((await response.json()) as { status: string }).status]
  return { answer, ms: performance.now() - askedAt }
}

/** Every recorded tip is on the stream within `ms`, once and in order. Answers how many there are. */
async function seesAll(t: ExecutionContext, stack: Stack, recorded: number, ms: number): Promise<void> {
  await until(`${recorded} tips are streamed`, () => stack.reader.tips.length >= recorded, ms)
  const stamps = await stampsOf(stack.db, stack.wallet)
  t.is(stamps.length, recorded)
  t.deepEqual(
    stack.reader.tips.map(({ id }) => id),
    stamps,
  )
}

function allQuick(t: ExecutionContext, answers: readonly PostAnswer[]): void {
  t.true(answers.length > 0)
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const slowest = Math.max(...answers.map(({ ms }) => ms))
  t.log(`${answers.length} tips recorded, the slowest in ${Math.round(slowest)} ms`)
  t.true(slowest < answerMs, `${slowest} ms`)
}

/** From paying to the event on the stream, in ms. */
async function oneTipMs(stack: Stack): Promise<number> {
  const seen = stack.reader.tips.length
  const { status } = await postTip(stack.web.url, payTip(world().sandbox, stack.wallet))
  if (status !== 200) throw new Error(`${status}`)
  const startedAt = performance.now()
  await until('the tip is streamed', () => stack.reader.tips.length > seen)
  return performance.now() - startedAt
}

/** Three tips in a row are far quicker than the rhythms alone could make them. */
async function wakesWork(t: ExecutionContext, stack: Stack): Promise<void> {
  const waits: number[] = []
  for (let turn = 0; turn < 3; turn++) waits.push(await oneTipMs(stack))
  t.log(`woken: streamed after ${waits.map(Math.round).join(', ')} ms`)
  t.true(Math.max(...waits) < 1500, `${waits}`)
}

test('a Redis flushed again and again loses no tip and no event', async (t) => {
  t.timeout(120_000)
  const stack = await startStack(t)
  const stop = startLoad(stack)
  for (let flush = 1; flush <= 10; flush++) {
    const enough = flush * 5
    await until('some tips more', () => stack.reader.tips.length >= enough)
    await stack.redis.command('FLUSHALL')
  }
  const answers = await stop()
  allQuick(t, answers)
  await seesAll(t, stack, answers.length, ownRhythmMs + slackMs)
  await wakesWork(t, stack)
})

test('a Redis frozen for ten seconds holds up no request, no confirmation and no reader', async (t) => {
  t.timeout(120_000)
  const stack = await startStack(t)
  await wakesWork(t, stack)
  const before = stack.reader.tips.length
  stack.redis.freeze()
  const frozenAt = performance.now()
  const stop = startLoad(stack)
  await until('tips are streamed without Redis', () => stack.reader.tips.length > before)
  const firstMs = performance.now() - frozenAt
  await outageLasts(frozenAt, frozenMs)
  const streamed = stack.reader.tips.length
  stack.redis.thaw()
  const answers = await stop()
  allQuick(t, answers)
  t.log(`the first one streamed after ${Math.round(firstMs)} ms, ${streamed - before} while it was frozen`)
  t.true(firstMs < ownRhythmMs + slackMs)
  t.true(streamed - before > answers.length / 4)
  await seesAll(t, stack, before + answers.length, ownRhythmMs + slackMs)
  await wakesWork(t, stack)
})

test('a Redis that crashed is done without, and used again when it is back', async (t) => {
  t.timeout(120_000)
  const stack = await startStack(t)
  await wakesWork(t, stack)
  const before = stack.reader.tips.length
  await stack.redis.kill()
  const stop = startLoad(stack)
  t.deepEqual((await readyOf(stack.web.url)).answer, [200, 'degraded'])
  await until('tips are streamed without Redis', () => stack.reader.tips.length > before + 3)
  await stack.redis.startAgain()
  const answers = await stop()
  allQuick(t, answers)
  await seesAll(t, stack, before + answers.length, ownRhythmMs + slackMs)
  await until('the subscription is back', async () =>
    /\S/.test(String(await stack.redis.command('PUBSUB', 'CHANNELS'))),
  )
  await wakesWork(t, stack)
  t.true(stack.web.isRunning())
})

test('a Redis that hangs is told by readiness, soon, and forgotten when it goes on', async (t) => {
  t.timeout(60_000)
  const redis = await privateRedis(t)
  const web = await startWeb(t, { ...world().env, REDIS_URL: redis.url })
  const isOk = async () => (await readyOf(web.url)).answer[1] === 'ok'
  await until('it is ready', isOk)
  redis.freeze()
  for (let turn = 0; turn < 3; turn++) {
    const { answer, ms } = await readyOf(web.url)
    t.deepEqual(answer, [200, 'degraded'])
    t.true(ms < answerMs, `${ms} ms`)
  }
  redis.thaw()
  await until('it is ready again', isOk)
})
