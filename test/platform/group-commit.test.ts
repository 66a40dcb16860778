import test from 'ava'
import fc from 'fast-check'
import { groupCommit, Overloaded } from '../../src/platform/database/group-commit.js'
import { controlled, settled } from '../helpers/controlled-call.js'
import { seeded } from '../helpers/seed.js'

const answers = (items: number[]): string[] => items.map((item) => `answer ${item}`)

test('callers of one turn share a batch, each gets the answer to their own item', async (t) => {
  const batches = controlled<number[], string[]>()
  const commit = groupCommit(batches.run)
  const [a, b, c] = [commit(1), commit(2), commit(3)]
  const batch = await batches.next()
  t.deepEqual(batch.input, [1, 2, 3])
  batch.resolve(answers(batch.input))
  t.deepEqual(await Promise.all([a, b, c]), ['answer 1', 'answer 2', 'answer 3'])
  t.is(batches.made, 1)
})

test('nobody is answered before their own batch is done', async (t) => {
  const batches = controlled<number[], string[]>()
  const commit = groupCommit(batches.run)
  let answered = false
  const caller = commit(1).then(() => {
    answered = true
  })
  const batch = await batches.next()
  await settled()
  t.false(answered)
  batch.resolve(answers(batch.input))
  await caller
  t.true(answered)
})

test('who comes while the lanes are busy shares the next batch, in order', async (t) => {
  const batches = controlled<number[], string[]>()
  const commit = groupCommit(batches.run, { lanes: 1 })
  const callers = [commit(1)]
  const first = await batches.next()
  callers.push(commit(2))
  await settled()
  callers.push(commit(3), commit(4))
  await settled()
  t.is(batches.made, 1, 'one lane, one batch')
  first.resolve(answers(first.input))
  const second = await batches.next()
  t.deepEqual(second.input, [2, 3, 4])
  second.resolve(answers(second.input))
  t.deepEqual(await Promise.all(callers), answers([1, 2, 3, 4]))
})

test('two lanes commit two batches at once, and the faster does not wait for the slower', async (t) => {
  const batches = controlled<number[], string[]>()
  const commit = groupCommit(batches.run, { lanes: 2 })
  const slow = commit(1)
  const first = await batches.next()
  const fast = commit(2)
  const second = await batches.next()
  const third = commit(3)
  await settled()
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

test('a batch has a largest size, and the rest goes into the next', async (t) => {
  const batches = controlled<number[], string[]>()
  const commit = groupCommit(batches.run, { lanes: 1, most: 2 })
  const callers = [1, 2, 3, 4, 5].map(commit)
  for (const expected of [[1, 2], [3, 4], [5]]) {
    const batch = await batches.next()
    t.deepEqual(batch.input, expected)
    batch.resolve(answers(batch.input))
  }
  t.deepEqual(await Promise.all(callers), answers([1, 2, 3, 4, 5]))
})

test('a batch that fails is repeated item by item, and only the bad item fails', async (t) => {
  const batches = controlled<number[], string[]>()
  const commit = groupCommit(batches.run, { lanes: 1 })
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

test('a lone item that fails is not tried twice', async (t) => {
  const batches = controlled<number[], string[]>()
  const commit = groupCommit(batches.run)
  const caller = commit(1)
  ;(await batches.next()).reject(new Error('bad'))
  await t.throwsAsync(caller, { message: 'bad' })
  await settled()
  t.is(batches.made, 1)
})

test('a function that throws at once fails its callers and not the lanes', async (t) => {
  let calls = 0
  const commit = groupCommit<number, string>(
    (items) => {
      calls += 1
      if (calls === 1) throw new Error('bad')
      return Promise.resolve(answers(items))
    },
    { lanes: 1 },
  )
  await t.throwsAsync(commit(1), { message: 'bad' })
  t.is(await commit(2), 'answer 2')
})

test('one more than may wait is refused at once, and there is room again later', async (t) => {
  const batches = controlled<number[], string[]>()
  const commit = groupCommit(batches.run, { lanes: 1, queue: 2 })
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

test('in any order of events everybody gets their own answer once, in lanes and sizes as configured', async (t) => {
  const options = fc.record({ lanes: fc.integer({ min: 1, max: 3 }), most: fc.integer({ min: 1, max: 5 }) })
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      options,
      fc.array(fc.boolean(), { maxLength: 30 }),
      async (s, limits, bad) => {
        let [running, mostRunning, largest] = [0, 0, 0]
        const commit = groupCommit(async (items: number[]) => {
          running += 1
          mostRunning = Math.max(mostRunning, running)
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
        t.true(mostRunning <= limits.lanes && largest <= limits.most)
      },
    ),
    seeded(t, 100),
  )
})
