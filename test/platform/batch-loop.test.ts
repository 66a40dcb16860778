import test from 'ava'
import {
  type BatchReport,
  createBatchLoop,
  createConcurrentLoops,
  inTurn,
} from '../../src/platform/worker/batch-loop.js'
import { createControlledCall, runPendingTasks } from '../helpers/controlled-call.js'

const neverFails = (error: unknown): void => {
  throw error
}

function startLoop(onError: (error: unknown) => void = neverFails) {
  const batches = createControlledCall<void, BatchReport>()
  return { batches, loop: createBatchLoop(() => batches.run(), onError) }
}

/** Which runs its next batch first: this loop, or one that has just begun to wait because nothing is due. */
async function firstToRun(batches: ReturnType<typeof startLoop>['batches']): Promise<string> {
  const idle = startLoop()
  const wakeUp = idle.loop.wake()
  ;(await idle.batches.next()).resolve({ taken: 0 })
  await wakeUp
  const [own, others] = [batches.next(), idle.batches.next()]
  const first = await Promise.race([own.then(() => 'this loop'), others.then(() => 'the idle loop')])
  ;(await own).resolve({ taken: 0 })
  ;(await others).resolve({ taken: 0 })
  await idle.loop.stop()
  return first
}

test('one wake-up runs batches, one at a time, until nothing is taken', async (t) => {
  const { batches, loop } = startLoop()
  const wakeUp = loop.wake()
  for (const taken of [256, 3, 0]) {
    const batch = await batches.next()
    await runPendingTasks()
    batch.resolve({ taken })
  }
  await wakeUp
  await runPendingTasks()
  t.is(batches.made, 3)
  await loop.stop()
})

test('after a batch that took all that was due no other one looks for more', async (t) => {
  const { batches, loop } = startLoop()
  const wakeUp = loop.wake()
  ;(await batches.next()).resolve({ taken: 16, full: true })
  ;(await batches.next()).resolve({ taken: 3, full: false })
  await wakeUp
  t.is(batches.made, 2)
  const both = inTurn([async () => ({ taken: 16, full: true }), async () => ({ taken: 2, full: false })])
  t.true((await both()).full, 'of two kinds one may have more')
  await loop.stop()
})

test('a wake-up is served by a batch that began after it, at any moment', async (t) => {
  for (let depth = 0; depth < 20; depth++) {
    const { batches, loop } = startLoop()
    const wakeUp = loop.wake()
    ;(await batches.next()).resolve({ taken: 0 })
    // Each step is one more microtask into the end of the first wake-up.
    for (let step = 0; step < depth; step++) await Promise.resolve()
    let served = false
    const secondWakeUp = loop.wake().then(() => {
      served = true
    })
    const second = await batches.next()
    await runPendingTasks()
    t.false(served, `a wake-up ${depth} microtasks after the last batch resolved too early`)
    second.resolve({ taken: 0 })
    await Promise.all([wakeUp, secondWakeUp])
    t.is(batches.made, 2, `${depth} microtasks`)
    await loop.stop()
  }
})

test('the next batch runs when the next row is due', async (t) => {
  const { batches, loop } = startLoop()
  const wakeUp = loop.wake()
  ;(await batches.next()).resolve({ taken: 5, nextDueMs: 10 })
  const last = await batches.next()
  last.resolve({ taken: 0, nextDueMs: 1900 })
  await wakeUp
  t.is(await firstToRun(batches), 'this loop')
  await loop.stop()
})

test('a wake-up does not make the loop forget when the next row is due', async (t) => {
  const { batches, loop } = startLoop()
  const wakeUp = loop.wake()
  ;(await batches.next()).resolve({ taken: 1, nextDueMs: 100 })
  const last = await batches.next()
  const secondWakeUp = loop.wake()
  last.resolve({ taken: 0 })
  ;(await batches.next()).resolve({ taken: 0 })
  await Promise.all([wakeUp, secondWakeUp])
  t.is(await firstToRun(batches), 'this loop')
  await loop.stop()
})

test('a reported due time causes one batch, not repeated ones', async (t) => {
  const { batches, loop } = startLoop()
  const wakeUp = loop.wake()
  ;(await batches.next()).resolve({ taken: 1, nextDueMs: 5 })
  ;(await batches.next()).resolve({ taken: 0 })
  await wakeUp
  ;(await batches.next()).resolve({ taken: 0 })
  const start = performance.now()
  ;(await batches.next()).resolve({ taken: 0 })
  t.true(performance.now() - start > 1500)
  await loop.stop()
})

test('with nothing due the loop runs a batch every two seconds', async (t) => {
  const { batches, loop } = startLoop()
  const wakeUp = loop.wake()
  ;(await batches.next()).resolve({ taken: 0, nextDueMs: 3_600_000 })
  await wakeUp
  const start = performance.now()
  ;(await batches.next()).resolve({ taken: 0 })
  const waitedMs = performance.now() - start
  t.true(waitedMs > 1500 && waitedMs < 20_000, `${waitedMs} ms`)
  await loop.stop()
})

test('after an error, which is reported, the loop continues after a pause', async (t) => {
  const errors: unknown[] = []
  const { batches, loop } = startLoop((error) => errors.push(error))
  const wakeUp = loop.wake()
  const failure = new Error('database unavailable')
  ;(await batches.next()).reject(failure)
  await wakeUp
  t.deepEqual(errors, [failure])
  const start = performance.now()
  ;(await batches.next()).resolve({ taken: 0 })
  const waitedMs = performance.now() - start
  t.true(waitedMs > 300 && waitedMs < 10_000, `${waitedMs} ms`)
  await loop.stop()
})

test('a wake-up during a batch that fails is served without a pause', async (t) => {
  const errors: unknown[] = []
  const { batches, loop } = startLoop((error) => errors.push(error))
  const first = loop.wake()
  const batch = await batches.next()
  const secondWakeUp = loop.wake()
  batch.reject(new Error('deadlock'))
  ;(await batches.next()).resolve({ taken: 0 })
  await Promise.all([first, secondWakeUp])
  t.is(errors.length, 1)
  t.is(batches.made, 2)
  await loop.stop()
})

test('stop waits for the running batch and runs no further one', async (t) => {
  const { batches, loop } = startLoop()
  const wakeUp = loop.wake()
  const batch = await batches.next()
  let stopped = false
  const stopping = loop.stop().then(() => {
    stopped = true
  })
  const late = loop.wake()
  await runPendingTasks()
  t.false(stopped)
  batch.resolve({ taken: 256 })
  await Promise.all([stopping, wakeUp, late])
  await runPendingTasks()
  t.is(batches.made, 1, 'remaining rows are left for another process')
})

test('the idle loops of a worker poll in turn, not each of them', async (t) => {
  const batches = createControlledCall<void, BatchReport>()
  const loops = createConcurrentLoops(3, (longestMs) =>
    createBatchLoop(() => batches.run(), neverFails, longestMs),
  )
  const wakeUps = [loops.wake(), loops.wake(), loops.wake()]
  for (let loop = 0; loop < 3; loop++) (await batches.next()).resolve({ taken: 0 })
  await Promise.all(wakeUps)
  ;(await batches.next()).resolve({ taken: 0 })
  const start = performance.now()
  ;(await batches.next()).resolve({ taken: 0 })
  t.true(performance.now() - start > 1500)
  await loops.stop()
})

test('while a batch of one loop hangs, a wake-up goes to another loop', async (t) => {
  const batches = createControlledCall<void, BatchReport>()
  const loops = createConcurrentLoops(2, () => createBatchLoop(() => batches.run(), neverFails))
  const hung = loops.wake()
  const hanging = await batches.next()
  const served = loops.wake()
  const other = await batches.next()
  other.resolve({ taken: 0 })
  await served
  t.truthy(loops.running, 'the first batch still hangs')
  hanging.resolve({ taken: 0 })
  await Promise.all([hung, loops.running])
  t.is(loops.running, undefined)
  await loops.stop()
})
