import test from 'ava'
import { TapCounter, tallyLine } from '../../scripts/dev/tap.js'

function tallyOf(tap: string, exitCode: number): string {
  const counter = new TapCounter()
  for (const line of tap.split('\n')) counter.line(line)
  return tallyLine(counter.tally(exitCode))
}

test('passed, failed and skipped tests are counted apart, a test still to be written as failed', (t) => {
  const tap =
    'TAP version 13\nok 1 - a › ok 7 is fine\nnot ok 2 - b\n  ---\n  ok 9 - in a diff\n  ...\nok 3 - c # SKIP\nnot ok 4 - d # TODO\n# fail 2'
  t.is(tallyOf(tap, 1), '1 passed, 2 failed, 1 skipped')
})

test('nothing is said about skipped tests when there are none', (t) => {
  t.is(tallyOf('ok 1 - a\nok 2 - b\n# fail 0', 0), '2 passed, 0 failed')
})

test('a failed hook counts although the summary of the stream leaves it out', (t) => {
  t.is(tallyOf('ok 1 - a\nnot ok 2 - after.always hook\n# fail 0', 1), '1 passed, 1 failed')
})

test('tests that never ran because their file died count as failed', (t) => {
  t.is(tallyOf('ok 1 - a\n# fail 3', 1), '1 passed, 3 failed')
})

test('a runner that ended badly never counts as a success', (t) => {
  t.is(tallyOf('ok 1 - a', 1), '1 passed, 1 failed')
})
