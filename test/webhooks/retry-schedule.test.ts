import test from 'ava'
import { readRetryAfter, restMs, retryInMs } from '../../src/webhooks/retry-schedule.js'

const hour = 3_600_000

test('ten attempts are spread over 75 hours, then it is given up', (t) => {
  const pauses = Array.from({ length: 10 }, (_, index) => retryInMs(index + 1, 0, 0))
  t.deepEqual(pauses, [
    5000,
    300_000,
    hour / 2,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
    null,
  ])
})

test('jitter makes a pause longer, by a tenth at most', (t) => {
  t.is(retryInMs(2, 0, 0.5), 315_000)
  t.true((retryInMs(1, 0, 1) ?? 0) <= 5500)
})

test('Retry-After makes a pause longer, never shorter, and at most a day', (t) => {
  t.is(retryInMs(1, 60_000, 0), 60_000)
  t.is(retryInMs(2, 1000, 0), 300_000)
  t.is(retryInMs(1, 1e12, 0), 24 * hour)
  t.is(retryInMs(10, 60_000, 0), null)
})

test('an endpoint that fails rests longer each time, up to a minute', (t) => {
  t.deepEqual(
    [0, 1, 5, 6, 500].map((failures) => restMs(failures)),
    [1000, 2000, 32_000, 60_000, 60_000],
  )
  t.is(restMs(0, 90_000), 90_000)
})

test('Retry-After is read as seconds or as a date', (t) => {
  const now = Date.parse('2026-11-25T10:00:00Z')
  const table: [string | undefined, number][] = [
    [undefined, 0],
    ['120', 120_000],
    ['0', 0],
    ['Wed, 25 Nov 2026 10:00:30 GMT', 30_000],
    ['Wed, 25 Nov 2026 09:00:00 GMT', 0],
    ['soon', 0],
    ['-5', 0],
    ['1e9', 0],
  ]
  for (const [header, ms] of table) t.is(readRetryAfter(header, now), ms, header)
})
