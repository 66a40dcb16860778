import test from 'ava'
import { singleFlight } from '../../src/platform/single-flight.js'

test('calls while the work runs share its result, and a later call runs it again', async (t) => {
  let runs = 0
  const run = singleFlight(async () => {
    runs += 1
    return runs
  })
  t.deepEqual(await Promise.all([run(), run(), run()]), [1, 1, 1])
  t.is(await run(), 2)
})

test('a failure is shared too, and the next call runs the work again', async (t) => {
  let runs = 0
  const run = singleFlight(async () => {
    runs += 1
    if (runs === 1) throw new Error('unavailable')
    return runs
  })
  const shared = await Promise.allSettled([run(), run()])
  t.deepEqual(
    shared.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.is(await run(), 2)
})
