import test from 'ava'
import { createDrainLanes, createDrainLoop, type DrainReport } from '../../src/platform/worker/batch-loop.js'
import { controlled, settled } from '../helpers/controlled-call.js'

const neverFails = (error: unknown): void => {
  throw error
}

function startLoop(onError: (error: unknown) => void = neverFails) {
  const drains = controlled<void, DrainReport>()
  return { drains, loop: createDrainLoop(() => drains.run(), onError) }
}

test('nothing is drained before somebody asks', async (t) => {
  const { drains, loop } = startLoop()
  await settled()
  t.is(drains.made, 0)
  await loop.stop()
})

test('one poke drains until nothing is taken, one drain at a time', async (t) => {
  const { drains, loop } = startLoop()
  const round = loop.poke()
  for (const taken of [256, 3, 0]) {
    const drain = await drains.next()
    await settled()
    drain.resolve({ taken })
  }
  await round
  await settled()
  t.is(drains.made, 3)
  await loop.stop()
})

test('any number of pokes during a drain mean one more look, not one each', async (t) => {
  const { drains, loop } = startLoop()
  const pokes = [loop.poke()]
  const first = await drains.next()
  pokes.push(loop.poke(), loop.poke(), loop.poke())
  await settled()
  t.is(drains.made, 1, 'never two drains at once')
  first.resolve({ taken: 0 })
  const second = await drains.next()
  second.resolve({ taken: 0 })
  await Promise.all(pokes)
  await settled()
  t.is(drains.made, 2)
  await loop.stop()
})

test('a poke is served by a drain that began after it, at whatever moment it comes', async (t) => {
  for (let depth = 0; depth < 20; depth++) {
    const { drains, loop } = startLoop()
    const round = loop.poke()
    ;(await drains.next()).resolve({ taken: 0 })
    // Each step is one more microtask into the end of the round.
    for (let step = 0; step < depth; step++) await Promise.resolve()
    let served = false
    const poked = loop.poke().then(() => {
      served = true
    })
    const second = await drains.next()
    await settled()
    t.false(served, `a poke ${depth} microtasks after the last look was told too early that it is done`)
    second.resolve({ taken: 0 })
    await Promise.all([round, poked])
    t.is(drains.made, 2, `${depth} microtasks`)
    await loop.stop()
  }
})

test('the next look comes when the first row that was put off is due', async (t) => {
  const { drains, loop } = startLoop()
  const round = loop.poke()
  ;(await drains.next()).resolve({ taken: 5, nextDueMs: 10 })
  const last = await drains.next()
  const start = performance.now()
  last.resolve({ taken: 0, nextDueMs: 1900 })
  await round
  ;(await drains.next()).resolve({ taken: 0 })
  const waited = performance.now() - start
  t.true(waited >= 5 && waited < 1500, `${waited} ms`)
  await loop.stop()
})

test('a poke during a round does not forget a row that was put off in it', async (t) => {
  const { drains, loop } = startLoop()
  const round = loop.poke()
  ;(await drains.next()).resolve({ taken: 1, nextDueMs: 100 })
  const last = await drains.next()
  const poked = loop.poke()
  last.resolve({ taken: 0 })
  ;(await drains.next()).resolve({ taken: 0 })
  await Promise.all([round, poked])
  const start = performance.now()
  ;(await drains.next()).resolve({ taken: 0 })
  t.true(performance.now() - start < 1000, 'the row had to wait for the rhythm of the loop')
  await loop.stop()
})

test('a row that was put off is looked for once, not again and again', async (t) => {
  const { drains, loop } = startLoop()
  const round = loop.poke()
  ;(await drains.next()).resolve({ taken: 1, nextDueMs: 5 })
  ;(await drains.next()).resolve({ taken: 0 })
  await round
  ;(await drains.next()).resolve({ taken: 0 })
  const start = performance.now()
  ;(await drains.next()).resolve({ taken: 0 })
  t.true(performance.now() - start > 1500)
  await loop.stop()
})

test('without anything due the loop looks again within about two seconds', async (t) => {
  const { drains, loop } = startLoop()
  const round = loop.poke()
  ;(await drains.next()).resolve({ taken: 0, nextDueMs: 3_600_000 })
  await round
  const start = performance.now()
  ;(await drains.next()).resolve({ taken: 0 })
  const waited = performance.now() - start
  t.true(waited > 1500 && waited < 5000, `${waited} ms`)
  await loop.stop()
})

test('an error is reported and the loop goes on by itself, after a pause', async (t) => {
  const errors: unknown[] = []
  const { drains, loop } = startLoop((error) => errors.push(error))
  const round = loop.poke()
  const lost = new Error('database away')
  ;(await drains.next()).reject(lost)
  await round
  t.deepEqual(errors, [lost])
  const start = performance.now()
  ;(await drains.next()).resolve({ taken: 0 })
  const waited = performance.now() - start
  t.true(waited > 300 && waited < 2000, `${waited} ms`)
  await loop.stop()
})

test('a poke during a drain that fails is served at once', async (t) => {
  const errors: unknown[] = []
  const { drains, loop } = startLoop((error) => errors.push(error))
  const first = loop.poke()
  const drain = await drains.next()
  const poked = loop.poke()
  drain.reject(new Error('deadlock'))
  ;(await drains.next()).resolve({ taken: 0 })
  await Promise.all([first, poked])
  t.is(errors.length, 1)
  t.is(drains.made, 2)
  await loop.stop()
})

test('a drain that throws at once is an error like any other', async (t) => {
  const errors: unknown[] = []
  const loop = createDrainLoop(
    () => {
      throw new Error('at once')
    },
    (error) => errors.push(error),
  )
  await loop.poke()
  t.is(errors.length, 1)
  await loop.stop()
})

test('stop waits for the running drain and takes nothing more', async (t) => {
  const { drains, loop } = startLoop()
  const round = loop.poke()
  const drain = await drains.next()
  let stopped = false
  const stopping = loop.stop().then(() => {
    stopped = true
  })
  const late = loop.poke()
  await settled()
  t.false(stopped)
  drain.resolve({ taken: 256 })
  await Promise.all([stopping, round, late])
  await settled()
  t.is(drains.made, 1, 'rows were left, and they stay for the next process')
})

test('stop ends a loop that is failing', async (t) => {
  const { drains, loop } = startLoop(() => undefined)
  const round = loop.poke()
  const drain = await drains.next()
  const stopping = loop.stop()
  drain.reject(new Error('database away'))
  await Promise.all([round, stopping])
  await loop.poke()
  await settled()
  t.is(drains.made, 1)
})

test('a stopped loop never starts', async (t) => {
  const { drains, loop } = startLoop()
  await loop.stop()
  await loop.poke()
  await loop.stop()
  await settled()
  t.is(drains.made, 0)
})

test('a drain that hangs in one lane leaves the others to whoever pokes', async (t) => {
  const drains = controlled<void, DrainReport>()
  const lanes = createDrainLanes(2, () => createDrainLoop(() => drains.run(), neverFails))
  const hung = lanes.poke()
  const hanging = await drains.next()
  const served = lanes.poke()
  const other = await drains.next()
  other.resolve({ taken: 0 })
  await served
  t.truthy(lanes.running, 'the first one still hangs')
  hanging.resolve({ taken: 0 })
  await Promise.all([hung, lanes.running])
  t.is(lanes.running, undefined)
  await lanes.stop()
})

test('with every lane busy whichever ends first serves a poke', async (t) => {
  const drains = controlled<void, DrainReport>()
  const lanes = createDrainLanes(2, () => createDrainLoop(() => drains.run(), neverFails))
  const busy = [lanes.poke(), lanes.poke()]
  const [hanging, other] = [await drains.next(), await drains.next()]
  const served = lanes.poke()
  other.resolve({ taken: 0 })
  const again = await drains.next()
  again.resolve({ taken: 0 })
  await served
  t.is(drains.made, 3)
  hanging.resolve({ taken: 0 })
  const last = await drains.next()
  last.resolve({ taken: 0 })
  await Promise.all(busy)
  await lanes.stop()
})
