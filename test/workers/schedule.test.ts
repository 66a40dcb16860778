import test from 'ava'
import { schedule } from '../../workers/schedule.js'
import { shiftedDate } from '../helpers/clock.js'
import { until } from '../helpers/until.js'

test('scheduled tasks go on when the wall clock is set back or forward', async (t) => {
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
