import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'

/** The exceptions poll, give a fault its duration, wait for a server's `Retry-After`, or keep a page's own timer from running. */
const mayWait = [
  'browser/dashboard-screens.test.ts',
  'browser/public-page.test.ts',
  'contract/support/server.ts',
  'helpers/until.ts',
  'platform/read-pool.test.ts',
]
/** Functions that wait, in this process or in the database. */
const waits = /\b(set(Timeout|Interval)|Atomics\.wait|pg_(sleep)|scheduler\.(wait|postTask))\b/

test('no test waits for a fixed time', (t) => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.ts$/.test(file),
  )
  const waiting = files.filter((file) => waits.test(readFileSync(join('test', file), 'utf8')))
  t.deepEqual(waiting.toSorted(), mayWait)
})
