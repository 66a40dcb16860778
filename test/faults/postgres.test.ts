import test from 'ava'
import { createRoles } from '../../scripts/database/create-roles.js'
import { redisUrlWith } from '../../scripts/kit/service-settings.js'
import { createDb } from '../../src/platform/database/database.js'
import { migrateToLatest } from '../../src/platform/database/migrations/migrate.js'
import { follow } from '../helpers/http/stream-reader.js'
import { confirmedStamps } from '../helpers/make/confirmed-tips.js'
import { type PostAnswer, payOnChain, postClaim, type TipClaim } from '../helpers/make/landed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { privatePostgres } from '../helpers/servers/private-postgres.js'
import { startWeb, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until, untilSlotsPass } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

const posters = 12
/** Every request is answered within this time while the database is unavailable. */
const answerMs = 10_000

interface Posted {
  readonly claim: TipClaim
  readonly answer: PostAnswer
}

/** Many clients that each pay and record a tip once per slot until `stop`. A broken connection rejects. */
function startPosters(url: string, wallet: string): { posted: Posted[]; stop(): Promise<void> } {
  const posted: Posted[] = []
  let stopped = false
  const running = Array.from({ length: posters }, async () => {
    for (; !stopped; await untilSlotsPass(world().sandbox, 1)) {
      const claim = payOnChain(world().sandbox, wallet)
      posted.push({ claim, answer: await postClaim(url, claim) })
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

test('when PostgreSQL crashes and restarts under load, every tip that was answered with 200 is kept', async (t) => {
  t.timeout(120_000)
  const postgres = await privatePostgres(t)
  const url = postgres.running.url('postgres')
  await migrateToLatest(url)
  await createRoles(url)
  const env = {
    ...world().env,
    DATABASE_URL: url,
    REDIS_URL: redisUrlWith(world().env['REDIS_URL'] ?? '', { namespace: 'faults_postgres' }),
  }
  const [web, verifier] = await Promise.all([startWeb(t, env), startWorkerProcess(t, 'verifier', env)])
  const wallet = unusedWallet()
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
  // Rows of an interrupted batch are due again when their lease ends. The test does not wait for that.
  await db.raw('update tips set due_at = clock_timestamp() where due_at is not null')
  await until('every stored tip is confirmed and streamed', () => reader.tips.length >= stored.size)
  const stamps = await confirmedStamps(db, wallet)
  t.is(stamps.length, stored.size)
  t.deepEqual(
    reader.tips.map(({ id }) => id),
    stamps,
  )
  t.true(reader.isOpen(), 'the stream outlived every restart')
  t.true(web.isRunning() && verifier.isRunning())
})
