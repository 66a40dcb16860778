import test from 'ava'
import {
  type BatchReport,
  createBatchLoop,
  createConcurrentLoops,
} from '../../src/platform/worker/batch-loop.js'
import { controlled, settled } from '../helpers/controlled-call.js'

const neverFails = (error: unknown): void => {
  throw error
}

function startLoop(onError: (error: unknown) => void = neverFails) {
  const batches = controlled<void, BatchReport>()
  return { batches, loop: createBatchLoop(() => batches.run(), onError) }
}

test('nothing is stopped before somebody asks', async (t) => {
  const { batches, loop } = startLoop()
  await settled()
  t.is(batches.made, 0)
  await loop.stop()
})

test('one poke batches until nothing is taken, one batch at a time', async (t) => {
  const { batches, loop } = startLoop()
  const round = loop.wake()
  for (const taken of [256, 3, 0]) {
    const batch = await batches.next()
    await settled()
    batch.resolve({ taken })
  }
  await round
  await settled()
  t.is(batches.made, 3)
  await loop.stop()
})

test('any number of pokes during a batch mean one more look, not one each', async (t) => {
  const { batches, loop } = startLoop()
  const pokes = [loop.wake()]
  const first = await batches.next()
  pokes.push(loop.wake(), loop.wake(), loop.wake())
  await settled()
  t.is(batches.made, 1, 'never two batches at once')
  first.resolve({ taken: 0 })
  const second = await batches.next()
  second.resolve({ taken: 0 })
  await Promise.all(pokes)
  await settled()
  t.is(batches.made, 2)
  await loop.stop()
})

test('a poke is served by a batch that began after it, at whatever moment it comes', async (t) => {
  for (let depth = 0; depth < 20; depth++) {
    const { batches, loop } = startLoop()
    const round = loop.wake()
    ;(await batches.next()).resolve({ taken: 0 })
    // Each step is one more microtask into the end of the round.
    for (let step = 0; step < depth; step++) await Promise.resolve()
    let served = false
    const poked = loop.wake().then(() => {
      served = true
    })
    const second = await batches.next()
    await settled()
    t.false(served, `a poke ${depth} microtasks after the last look was told too early that it is done`)
    second.resolve({ taken: 0 })
    await Promise.all([round, poked])
    t.is(batches.made, 2, `${depth} microtasks`)
    await loop.stop()
  }
})

test('the next look comes when the first row that was put off is due', async (t) => {
  const { batches, loop } = startLoop()
  const round = loop.wake()
  ;(await batches.next()).resolve({ taken: 5, nextDueMs: 10 })
  const last = await batches.next()
  const start = performance.now()
  last.resolve({ taken: 0, nextDueMs: 1900 })
  await round
  ;(await batches.next()).resolve({ taken: 0 })
  const waited = performance.now() - start
  t.true(waited >= 5 && waited < 1500, `${waited} ms`)
  await loop.stop()
})

test('a poke during a round does not forget a row that was put off in it', async (t) => {
  const { batches, loop } = startLoop()
  const round = loop.wake()
  ;(await batches.next()).resolve({ taken: 1, nextDueMs: 100 })
  const last = await batches.next()
  const poked = loop.wake()
  last.resolve({ taken: 0 })
  ;(await batches.next()).resolve({ taken: 0 })
  await Promise.all([round, poked])
  const start = performance.now()
  ;(await batches.next()).resolve({ taken: 0 })
  t.true(performance.now() - start < 1000, 'the row had to wait for the rhythm of the loop')
  await loop.stop()
})

test('a row that was put off is looked for once, not again and again', async (t) => {
  const { batches, loop } = startLoop()
  const round = loop.wake()
  ;(await batches.next()).resolve({ taken: 1, nextDueMs: 5 })
  ;(await batches.next()).resolve({ taken: 0 })
  await round
  ;(await batches.next()).resolve({ taken: 0 })
  const start = performance.now()
  ;(await batches.next()).resolve({ taken: 0 })
  t.true(performance.now() - start > 1500)
  await loop.stop()
})

test('without anything due the loop looks again within about two seconds', async (t) => {
  const { batches, loop } = startLoop()
  const round = loop.wake()
  ;(await batches.next()).resolve({ taken: 0, nextDueMs: 3_600_000 })
  await round
  const start = performance.now()
  ;(await batches.next()).resolve({ taken: 0 })
  const waited = performance.now() - start
  t.true(waited > 1500 && waited < 5000, `${waited} ms`)
  await loop.stop()
})

test('an error is reported and the loop goes on by itself, after a pause', async (t) => {
  const errors: unknown[] = []
  const { batches, loop } = startLoop((error) => errors.push(error))
  const round = loop.wake()
  const lost = new Error('database away')
  ;(await batches.next()).reject(lost)
  await round
  t.deepEqual(errors, [lost])
  const start = performance.now()
  ;(await batches.next()).resolve({ taken: 0 })
  const waited = performance.now() - start
  t.true(waited > 300 && waited < 2000, `${waited} ms`)
  await loop.stop()
})

test('a poke during a batch that fails is served at once', async (t) => {
  const errors: unknown[] = []
  const { batches, loop } = startLoop((error) => errors.push(error))
  const first = loop.wake()
  const batch = await batches.next()
  const poked = loop.wake()
  batch.reject(new Error('deadlock'))
  ;(await batches.next()).resolve({ taken: 0 })
  await Promise.all([first, poked])
  t.is(errors.length, 1)
  t.is(batches.made, 2)
  await loop.stop()
})

test('a batch that throws at once is an error like any other', async (t) => {
  const errors: unknown[] = []
  const loop = createBatchLoop(
    () => {
      throw new Error('at once')
    },
    (error) => errors.push(error),
  )
  await loop.wake()
  t.is(errors.length, 1)
  await loop.stop()
})

test('stop waits for the running batch and takes nothing more', async (t) => {
  const { batches, loop } = startLoop()
  const round = loop.wake()
  const batch = await batches.next()
  let stopped = false
  const stopping = loop.stop().then(() => {
    stopped = true
  })
  const late = loop.wake()
  await settled()
  t.false(stopped)
  batch.resolve({ taken: 256 })
  await Promise.all([stopping, round, late])
  await settled()
  t.is(batches.made, 1, 'rows were left, and they stay for the next process')
})

test('stop ends a loop that is failing', async (t) => {
  const { batches, loop } = startLoop(() => undefined)
  const round = loop.wake()
  const batch = await batches.next()
  const stopping = loop.stop()
  batch.reject(new Error('database away'))
  await Promise.all([round, stopping])
  await loop.wake()
  await settled()
  t.is(batches.made, 1)
})

test('a stopped loop never starts', async (t) => {
  const { batches, loop } = startLoop()
  await loop.stop()
  await loop.wake()
  await loop.stop()
  await settled()
  t.is(batches.made, 0)
})

test('a batch that hangs in one lane leaves the others to whoever pokes', async (t) => {
  const batches = controlled<void, BatchReport>()
  const lanes = createConcurrentLoops(2, () => createBatchLoop(() => batches.run(), neverFails))
  const hung = lanes.wake()
  const hanging = await batches.next()
  const served = lanes.wake()
  const other = await batches.next()
  other.resolve({ taken: 0 })
  await served
  t.truthy(lanes.running, 'the first one still hangs')
  hanging.resolve({ taken: 0 })
  await Promise.all([hung, lanes.running])
  t.is(lanes.running, undefined)
  await lanes.stop()
})

test('with every lane busy whichever ends first serves a poke', async (t) => {
  const batches = controlled<void, BatchReport>()
  const lanes = createConcurrentLoops(2, () => createBatchLoop(() => batches.run(), neverFails))
  const busy = [lanes.wake(), lanes.wake()]
  const [hanging, other] = [await batches.next(), await batches.next()]
  const served = lanes.wake()
  other.resolve({ taken: 0 })
  const again = await batches.next()
  again.resolve({ taken: 0 })
  await served
  t.is(batches.made, 3)
  hanging.resolve({ taken: 0 })
  const last = await batches.next()
  last.resolve({ taken: 0 })
  await Promise.all(busy)
  await lanes.stop()
})
