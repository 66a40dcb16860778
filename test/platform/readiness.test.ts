import test from 'ava'
import { createReadiness } from '../../src/platform/readiness.js'

/** What is asked answers as its switch says. `seconds`: the clock. */
function setUp() {
  const state = { seconds: 0, database: true, redis: true }
  const answer = (works: boolean) => (works ? Promise.resolve() : Promise.reject(new Error('no answer')))
  const probes = { database: () => answer(state.database), redis: () => answer(state.redis) }
  const ready = createReadiness(probes, () => state.seconds * 1000)
  /** The answers of so many looks, a second apart. */
  async function looks(count: number): Promise<string> {
    const answers: string[] = []
    for (let look = 0; look < count; look++, state.seconds++) answers.push(await ready())
    return answers.join(' ')
  }
  return { state, ready, looks }
}

test('a process that was ready is unavailable after three failures in a row, and ready again after one success', async (t) => {
  const { state, looks } = setUp()
  t.is(await looks(1), 'ok')
  state.database = false
  t.is(await looks(2), 'ok ok')
  state.database = true
  t.is(await looks(1), 'ok')
  state.database = false
  t.is(await looks(4), 'ok ok unavailable unavailable')
  state.database = true
  t.is(await looks(1), 'ok')
})

test('a process that has never been ready is unavailable at once', async (t) => {
  const { state, looks } = setUp()
  state.database = false
  t.is(await looks(1), 'unavailable')
})

test('many callers within a second do not make one failure three', async (t) => {
  const { state, ready, looks } = setUp()
  t.is(await looks(1), 'ok')
  state.database = false
  for (let caller = 0; caller < 5; caller++) t.is(await ready(), 'ok')
})

test('without Redis a process is degraded at once', async (t) => {
  const { state, looks } = setUp()
  state.redis = false
  t.is(await looks(1), 'degraded')
})
