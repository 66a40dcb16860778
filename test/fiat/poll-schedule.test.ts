import test from 'ava'
import { nextPoll } from '../../src/fiat/settlement/poll-schedule.js'

const day = 86_400
const watchDays = 7

/** Every look of an intent's life, in seconds after it was made; paid at a moment, or never. */
function looks(expiry: number, paidAt = Number.POSITIVE_INFINITY): number[] {
  const moments: number[] = []
  for (let now = 0; ; ) {
    const age = { sinceCreated: now, untilExpiry: expiry - now, completed: now >= paidAt }
    const pause = nextPoll(age, watchDays)
    if (pause === null) return moments
    now += pause
    moments.push(now)
  }
}

test('an intent nobody pays is asked about at most 100 times in its eight days', (t) => {
  const moments = looks(1800)
  t.true(moments.length <= 100, `${moments.length}`)
  t.log(`${moments.length} looks`)
})

test('who waits is answered within a minute, in the first seconds within five', (t) => {
  const moments = [0, ...looks(1800)].filter((moment) => moment <= 1800)
  const pauses = moments.slice(1).map((moment, index) => moment - (moments[index] ?? 0))
  t.is(pauses[0], 5)
  t.true(pauses.every((pause) => pause <= 60))
})

test('the provider is asked once more right after expiry, before the intent is cancelled', (t) => {
  t.true(looks(1800).some((moment) => moment >= 1800 && moment <= 1810))
})

test('late money is looked for as long as agreed, ever more rarely', (t) => {
  const late = looks(1800).filter((moment) => moment > 1800)
  t.true((late.at(-1) ?? 0) >= 1800 + watchDays * day)
  t.true(late.every((moment, index) => moment - (late[index - 1] ?? moment) <= 6 * 3600))
})

test('a paid intent is asked about no more until it expires, and then as rarely as any', (t) => {
  const moments = looks(1800, 5)
  t.is(moments.filter((moment) => moment < 1800).length, 1)
  t.true(moments.length < 60, `${moments.length}`)
})
