import test from 'ava'
import { createLog } from '../../src/platform/log.js'
import { createMetrics } from '../../src/platform/monitoring/metrics.js'
import { failureReport } from '../../workers/clock.js'
import { schedule } from '../../workers/schedule.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import { shiftedDate } from '../helpers/clock.js'
import { until } from '../helpers/until.js'

test.serial('a task that fails is named, and runs again', async (t) => {
  const failed: string[] = []
  const stop = schedule(
    [['each-second', '* * * * * *', () => Promise.reject(new Error('away'))]],
    (error, task) => failed.push(`${task}: ${error}`),
  )
  t.teardown(stop)
  await until('it has failed twice', () => failed.length >= 2)
  t.is(failed[0], 'each-second: Error: away')
})

test('a check that would see missing money does not fail unseen', async (t) => {
  const metrics = createMetrics()
  const report = failureReport({ metrics, log: createLog('silent', 'clock') })
  const count = () => countAlerts({ services: { metrics } }, 'check_failed')
  report(new Error('away'), 'prices')
  t.is(await count(), 0)
  for (const check of ['books', 'compare-payouts', 'compare-collections']) report(new Error('away'), check)
  t.is(await count(), 3)
})

test.serial('scheduled tasks go on when the wall clock is set back or forward', async (t) => {
  let shiftMs = 3_600_000
  const real = globalThis.Date
  globalThis.Date = shiftedDate(real, () => shiftMs)
  let runs = 0
  const stop = schedule([['each-second', '* * * * * *', async () => void runs++]], (error) =>
    t.fail(String(error)),
  )
  t.teardown(async () => {
    await stop()
    globalThis.Date = real
  })
  for (const next of [0, -3_600_000, 7_200_000]) {
    const before = runs
    await until('it has run', () => runs > before)
    shiftMs = next
  }
  const before = runs
  await until('it has run at the last step', () => runs > before)
  t.true(runs >= 4)
})
