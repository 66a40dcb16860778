import test from 'ava'
import { nextPoll } from '../../../src/fiat/settlement/poll-schedule.js'

const day = 86_400
const watchDays = 7

/** The times of all polls of an intent, in seconds after its creation. */
function listPolls(expiry: number, paidAt = Number.POSITIVE_INFINITY): number[] {
  const times: number[] = []
  for (let now = 0; ; ) {
    const age = { sinceCreated: now, untilExpiry: expiry - now, completed: now >= paidAt }
    const pause = nextPoll(age, watchDays)
    if (pause === null) return times
    now += pause
    times.push(now)
  }
}

test('an unpaid intent is polled at most 100 times in its eight days', (t) => {
  const times = listPolls(1800)
  t.true(times.length <= 100, `${times.length}`)
  t.log(`${times.length} polls`)
})

test('until expiry the pauses are at most a minute, and the first is five seconds', (t) => {
  const times = [0, ...listPolls(1800)].filter((time) => time <= 1800)
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  t.is(pauses[0], 5)
  t.true(pauses.every((pause) => pause <= 60))
})

test('an intent is polled once more right after expiry', (t) => {
  t.true(listPolls(1800).some((time) => time >= 1800 && time <= 1810))
})

test('an expired intent is polled for seven days, at least every six hours', (t) => {
  const late = listPolls(1800).filter((time) => time > 1800)
  t.true((late.at(-1) ?? 0) >= 1800 + watchDays * day)
  t.true(late.every((time, index) => time - (late[index - 1] ?? time) <= 6 * 3600))
})

test('a paid intent is not polled until it expires, and then as rarely as any other', (t) => {
  const times = listPolls(1800, 5)
  t.is(times.filter((time) => time < 1800).length, 1)
  t.true(times.length < 60, `${times.length}`)
})
