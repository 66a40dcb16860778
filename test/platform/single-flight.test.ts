import test from 'ava'
import { singleFlight } from '../../src/platform/single-flight.js'

test('who asks while the work runs shares its result, and who asks after its end has it done anew', async (t) => {
  let runs = 0
  const ask = singleFlight(async () => {
    runs += 1
    return runs
  })
  t.deepEqual(await Promise.all([ask(), ask(), ask()]), [1, 1, 1])
  t.is(await ask(), 2)
})

test('a failure is shared too, and not kept', async (t) => {
  let runs = 0
  const ask = singleFlight(async () => {
    runs += 1
    if (runs === 1) throw new Error('away')
    return runs
  })
  const shared = await Promise.allSettled([ask(), ask()])
  t.deepEqual(
    shared.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.is(await ask(), 2)
})
