import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { compose } from '../../src/compose.js'
import { providerCheck } from '../../src/operators/provider-checks.js'
import { createStateGauges } from '../../src/operators/state-gauges.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { alertKinds } from '../../src/platform/monitoring/alert-kinds.js'
import { beat } from '../../src/platform/monitoring/measurements.js'
import { createMetrics, type Metrics } from '../../src/platform/monitoring/metrics.js'
import { createSmtp } from '../../src/providers/smtp/smtp.js'
import { registerPerson } from '../helpers/make/creators.js'
import { someClaim } from '../helpers/make/tips.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true, mail: true, proxies: true })

/** One metric of a process: `kind` and value. */
async function read(metrics: Metrics, name: string): Promise<Record<string, number>> {
  const lines = (await metrics.registry.getSingleMetricAsString(`tipping_${name}`)).split('\n')
  return Object.fromEntries(
    lines
      .filter((line) => !line.startsWith('#'))
      .map((line) => [/="(.*?)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]),
  )
}

/** As a process of its own: other metrics, the same database. */
function otherProcess() {
  const metrics = createMetrics()
  return { ...world().services, metrics }
}

const makeOld = () =>
  world()
    .db('measurements')
    .update({ measured_at: world().db.raw(`clock_timestamp() - interval '1 hour'`) })

test('every kind of alert, work, case and provider is there before anything has happened', async (t) => {
  const services = otherProcess()
  createStateGauges(services)
  const alerts = await read(services.metrics, 'alerts_total')
  t.deepEqual(Object.keys(alerts), [...alertKinds])
  t.true(Object.values(alerts).every((count) => count === 0))
  for (const name of ['oldest_unfinished_seconds', 'late_rows', 'open_cases', 'stopped']) {
    const values = Object.values(await read(services.metrics, name))
    t.true(values.length >= 6 && values.every((value) => value === 0), name)
  }
  t.deepEqual(Object.values(await read(services.metrics, 'available')), [1, 1, 1, 1, 1, 1, 1])
})

test.serial('any process shows the state, and of all processes one measures it', async (t) => {
  const { db, request, proxies } = world()
  const { user } = await registerPerson(world())
  await db('users')
    .where({ id: user.id })
    .update({ created_at: db.raw(`clock_timestamp() - interval '5 minutes'`) })
  await db('users').where({ id: user.id }).update({ frozen_at: new Date(), frozen_reason: 'ticket 9' })
  const claim = someClaim()
  await request('POST', '/chain/tips/create', { body: claim })
  // Looked for again and again, it is never due for long.
  await db('tips').update({
    recorded_at: db.raw(`clock_timestamp() - interval '80 s'`),
    due_at: db.raw(`clock_timestamp() + interval '10 s'`),
  })
  await makeOld()
  const processes = Array.from({ length: 4 }, otherProcess)
  const gauges = processes.map((services) => createStateGauges(services))
  const scrape = () => Promise.all(gauges.flatMap((fill) => [fill(), fill(), fill()]))
  const statements = await proxies.sql.during(scrape)
  const count = (name: string) => statements.filter((one) => one === name).length
  t.is(count('ops.measure-state'), 1)
  t.is(count('ops.open-cases'), 1)
  t.is(count('ops.oldest-due'), 1)
  t.is(count('measurements.read'), processes.length, 'one small read each')
  // Another process measured it while these had read: the next scrape shows it.
  const later = otherProcess()
  await createStateGauges(later)()
  const late = await read(later.metrics, 'late_rows')
  t.like(late, { verifier: 1, provisioner: 1, finality: 0, payouts: 0 })
  const oldest = await read(later.metrics, 'oldest_unfinished_seconds')
  t.true((oldest['verifier'] ?? 0) >= 80 && (oldest['provisioner'] ?? 0) >= 300, JSON.stringify(oldest))
  t.is((await read(later.metrics, 'oldest_due_seconds'))['verifier'], 0)
  t.is((await read(later.metrics, 'open_cases'))['frozen_accounts'], 1)
  const age = (await read(later.metrics, 'state_age_seconds'))[''] ?? -1
  t.true(age >= 0 && age < 60, String(age))
})

test.serial('a provider without an answer is shown by every process, and asked again soon', async (t) => {
  const { fiat, mail } = world()
  const checks = [providerCheck('mail', () => createSmtp({ url: mail.url, from: 'a@b.example' }).check())]
  const shown = async (provider: string) => {
    const process = otherProcess()
    await createStateGauges(process, checks)()
    return (await read(process.metrics, 'available'))[provider]
  }
  await makeOld()
  await shown('rates')
  const measured = () => world().db('measurements').whereIn('name', ['rates', 'fiatpay', 'mail', 'chain'])
  await until('all are measured', async () =>
    (await measured()).every(({ measured_at: at }) => Date.now() - at.getTime() < 1_800_000),
  )
  const parts = ['rates', 'fiatpay', 'mail', 'postgresql', 'redis', 'chain']
  // Redis has 250 ms to answer. This world has no chain.
  await until('each is seen once', async () =>
    isDeepStrictEqual(await Promise.all(parts.map(shown)), [1, 1, 1, 1, 1, 0]),
  )
  t.is(await shown('chain'), 0)
  fiat.rates.set({ NGN: 0 })
  await makeOld()
  await until('the feed is seen to be down', async () => (await shown('rates')) === 0)
  t.is(providerCheck('rates', async () => undefined).everySeconds({ available: false }), 15)
})

test.serial('without the database the gauges answer in time, and say so', async (t) => {
  const services = compose(
    loadConfig({ ...world().env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }),
    'cut off',
  )
  t.teardown(() => services.close())
  const fill = createStateGauges(services)
  await until('it is seen', async () => {
    await fill()
    return (await read(services.metrics, 'available'))['postgresql'] === 0
  })
  t.is((await read(services.metrics, 'open_cases'))['disputes'], 0)
})

test.serial('how long ago a clock has lived is shown by every process', async (t) => {
  const { db } = world()
  await db('heartbeats').update({ beat_at: db.raw(`clock_timestamp() - interval '600 s'`) })
  await makeOld()
  const shown = otherProcess()
  await createStateGauges(shown)()
  t.true(((await read(shown.metrics, 'clock_heartbeat_seconds'))[''] ?? 0) >= 600)
  await beat(db)
  await makeOld()
  await createStateGauges(shown)()
  t.true(((await read(shown.metrics, 'clock_heartbeat_seconds'))[''] ?? 600) < 60)
})
