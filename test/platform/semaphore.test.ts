import test from 'ava'
import { createSemaphore } from '../../src/platform/semaphore.js'

test('14.11 addresses take turns, and a full queue refuses the address with the most waiting calls', async (t) => {
  const limit = createSemaphore({ concurrency: 1, maxWaiting: 4 })
  const order: string[] = []
  let open = (): void => undefined
  const gate = new Promise<void>((done) => {
    open = done
  })
  const run = (key: string, name: string) =>
    limit(async () => {
      await gate
      order.push(name)
    }, key).catch(() => order.push(`${name} refused`))
  const calls = ['a0', 'a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run('a', name))
  calls.push(run('b', 'b1'), run('c', 'c1'), run('b', 'b2'))
  await new Promise(setImmediate)
  t.deepEqual(order, ['a5 refused', 'a4 refused', 'a3 refused', 'a2 refused'])
  open()
  await Promise.all(calls)
  t.deepEqual(order.slice(4), ['a0', 'a1', 'b1', 'c1', 'b2'])
})
