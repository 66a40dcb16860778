import test from 'ava'
import { createDb } from '../../src/platform/database/database.js'
import { migrateToLatest } from '../../src/platform/database/migrate.js'
import { follow } from '../helpers/http/stream-reader.js'
import { type PostAnswer, payTip, postTip, type TipClaim } from '../helpers/make/chain-tips.js'
import { stampsOf } from '../helpers/make/confirmed-tips.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { privatePostgres } from '../helpers/servers/private-postgres.js'
import { startWeb, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { slotsPass } from '../helpers/slots.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

const posters = 12
/** However the database is away, nobody waits longer for an answer. */
const answerMs = 6000

interface Posted {
  readonly claim: TipClaim
  readonly answer: PostAnswer
}

/** Many clients, each paying and recording once a slot until told to stop; a broken connection rejects. */
function startPosters(url: string, wallet: string): { posted: Posted[]; stop(): Promise<void> } {
  const posted: Posted[] = []
  let stopped = false
  const running = Array.from({ length: posters }, async () => {
    for (; !stopped; await slotsPass(world().sandbox, 1)) {
      const claim = payTip(world().sandbox, wallet)
      posted.push({ claim, answer: await postTip(url, claim) })
    }
  })
  return {
    posted,
    async stop() {
      stopped = true
      await Promise.all(running)
    },
  }
}

test('a PostgreSQL that crashes and restarts under load keeps every tip it was said to have', async (t) => {
  t.timeout(120_000)
  const postgres = await privatePostgres(t)
  const url = postgres.running.url('postgres')
  await migrateToLatest(url)
  const env = { ...world().env, DATABASE_URL: url, REDIS_NAMESPACE: 'faults_postgres' }
  const [web, verifier] = await Promise.all([startWeb(t, env), startWorkerProcess(t, 'verifier', env)])
  const wallet = strangerWallet()
  const reader = await follow(t, web.url, wallet)
  const load = startPosters(web.url, wallet)
  const count = (status: number): number =>
    load.posted.filter(({ answer }) => answer.status === status).length

  let { running } = postgres
  for (const end of ['kill', 'stop', 'kill'] as const) {
    const [recorded, refused] = [count(200), count(503)]
    await until('tips are recorded', () => count(200) > recorded + 50)
    await running[end]()
    await until('tips are refused', () => count(503) > refused + posters)
    running = await postgres.startAgain()
  }
  const recorded = count(200)
  await until('tips are recorded again', () => count(200) > recorded + 50)
  await load.stop()

  const answered = [...new Set(load.posted.map(({ answer }) => answer.status))].sort()
  t.deepEqual(answered, [200, 503])
  for (const { answer } of load.posted.filter(({ answer: { status } }) => status === 503)) {
    const { requestId, ...body } = answer.body
    t.deepEqual(body, { success: false, error: 'Service unavailable', code: 'service_unavailable' })
  }
  const slowest = Math.max(...load.posted.map(({ answer }) => answer.ms))
  t.log(`${count(200)} recorded, ${count(503)} refused, the slowest answer after ${Math.round(slowest)} ms`)
  t.true(slowest < answerMs, `${slowest} ms`)

  const db = createDb(url, 1)
  t.teardown(() => db.destroy())
  const stored = new Set((await db('tips').select('id')).map(({ id }: { id: string }) => id))
  const lost = load.posted.filter(
    ({ claim, answer }) => answer.status === 200 && !stored.has(claim.txSignature),
  )
  t.is(lost.length, 0)
  // What a batch held when the database went away comes back by its lease; half a minute is not waited for here.
  await db.raw('update tips set due_at = clock_timestamp() where due_at is not null')
  await until('all that is stored is confirmed and streamed', () => reader.tips.length >= stored.size)
  const stamps = await stampsOf(db, wallet)
  t.is(stamps.length, stored.size)
  t.deepEqual(
    reader.tips.map(({ id }) => id),
    stamps,
  )
  t.true(reader.isOpen(), 'the stream outlived every restart')
  t.true(web.isRunning() && verifier.isRunning())
})
