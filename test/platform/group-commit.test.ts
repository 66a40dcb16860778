import test from 'ava'
import fc from 'fast-check'
import { groupCommit, Overloaded } from '../../src/platform/database/group-commit.js'
import { createControlledCall, runPendingTasks } from '../helpers/controlled-call.js'
import { seededRuns } from '../helpers/random.js'

const answers = (items: number[]): string[] => items.map((item) => `answer ${item}`)

test('with concurrency 2 a fast batch does not wait for a slow one', async (t) => {
  const batches = createControlledCall<number[], string[]>()
  const commit = groupCommit(batches.run, { concurrency: 2 })
  const slow = commit(1)
  const first = await batches.next()
  const fast = commit(2)
  const second = await batches.next()
  const third = commit(3)
  await runPendingTasks()
  t.is(batches.made, 2)
  second.resolve(answers(second.input))
  t.is(await fast, 'answer 2')
  const next = await batches.next()
  t.deepEqual(next.input, [3])
  next.resolve(answers(next.input))
  t.is(await third, 'answer 3')
  first.resolve(answers(first.input))
  t.is(await slow, 'answer 1')
})

test('a batch that fails is repeated item by item, and only the bad item fails', async (t) => {
  const batches = createControlledCall<number[], string[]>()
  const commit = groupCommit(batches.run, { concurrency: 1 })
  const callers = Promise.allSettled([1, 2, 3].map(commit))
  ;(await batches.next()).reject(new Error('one of us is bad'))
  for (const item of [1, 2, 3]) {
    const alone = await batches.next()
    t.deepEqual(alone.input, [item])
    if (item === 2) alone.reject(new Error('2 is bad'))
    else alone.resolve(answers(alone.input))
  }
  const [one, two, three] = await callers
  t.like(one, { status: 'fulfilled', value: 'answer 1' })
  t.is(two?.status === 'rejected' && (two.reason as Error).message, '2 is bad')
  t.like(three, { status: 'fulfilled', value: 'answer 3' })
  t.is(batches.made, 4)
})

test('after a function that throws synchronously, later calls still run', async (t) => {
  let calls = 0
  const commit = groupCommit<number, string>(
    (items) => {
      calls += 1
      if (calls === 1) throw new Error('bad')
      return Promise.resolve(answers(items))
    },
    { concurrency: 1 },
  )
  await t.throwsAsync(commit(1), { message: 'bad' })
  t.is(await commit(2), 'answer 2')
})

test('a call beyond maxWaiting is refused immediately, and a later call is accepted', async (t) => {
  const batches = createControlledCall<number[], string[]>()
  const commit = groupCommit(batches.run, { concurrency: 1, maxWaiting: 2 })
  const first = commit(1)
  const running = await batches.next()
  const waiting = [commit(2), commit(3)]
  await t.throwsAsync(commit(4), { instanceOf: Overloaded, message: '2 are waiting' })
  running.resolve(answers(running.input))
  const next = await batches.next()
  const later = commit(5)
  next.resolve(answers(next.input))
  const last = await batches.next()
  t.deepEqual([next.input, last.input], [[2, 3], [5]], 'the refused item was not kept')
  last.resolve(answers(last.input))
  t.deepEqual(await Promise.all([first, ...waiting, later]), answers([1, 2, 3, 5]))
})

test('in any order of events every call gets its own result, within concurrency and batchSize', async (t) => {
  const options = fc.record({
    concurrency: fc.integer({ min: 1, max: 3 }),
    batchSize: fc.integer({ min: 1, max: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      options,
      fc.array(fc.boolean(), { maxLength: 30 }),
      async (s, limits, bad) => {
        let [running, maxRunning, largest] = [0, 0, 0]
        const commit = groupCommit(async (items: number[]) => {
          running += 1
          maxRunning = Math.max(maxRunning, running)
          largest = Math.max(largest, items.length)
          await s.schedule(Promise.resolve(), `commit ${items.join()}`)
          running -= 1
          if (items.some((item) => bad[item])) throw new Error(`bad among ${items.join()}`)
          return answers(items)
        }, limits)
        const callers = bad.map((_, item) =>
          s.schedule(Promise.resolve(), `call ${item}`).then(() => commit(item)),
        )
        const results = await s.waitFor(Promise.allSettled(callers))
        for (const [item, result] of results.entries()) {
          const expected = bad[item] ? `bad among ${item}` : `answer ${item}`
          t.is(result.status === 'fulfilled' ? result.value : (result.reason as Error).message, expected)
        }
        t.true(maxRunning <= limits.concurrency && largest <= limits.batchSize)
      },
    ),
    seededRuns(t, 100),
  )
})
