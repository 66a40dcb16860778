import test from 'ava'
import { closingReport, summaryLine, TapCounter } from '../../scripts/dev/test-run/tap.js'

function tallyOf(tap: string, exitCode: number): string {
  const counter = new TapCounter()
  for (const line of tap.split('\n')) counter.line(line)
  return summaryLine(counter.counts(exitCode))
}

test('passed, failed and skipped tests are counted separately, and TODO tests count as failed', (t) => {
  const tap =
    'TAP version 13\nok 1 - a › ok 7 is fine\nnot ok 2 - b\n  ---\n  ok 9 - in a diff\n  ...\nok 3 - c # SKIP\nnot ok 4 - d # TODO\n# fail 2'
  t.is(tallyOf(tap, 1), '1 passed, 2 failed, 1 skipped')
})

test('a failed hook counts although the TAP summary leaves it out', (t) => {
  t.is(tallyOf('ok 1 - a\nnot ok 2 - after.always hook\n# fail 0', 1), '1 passed, 1 failed')
})

test('tests that did not run because their file crashed count as failed', (t) => {
  t.is(tallyOf('ok 1 - a\n# fail 3', 1), '1 passed, 3 failed')
})

test('the failed tests stand once more above the counts, each with what AVA says about it', (t) => {
  const counter = new TapCounter()
  const long = Array.from({ length: 50 }, (_, line) => `    line ${line}`)
  const tap = [
    'ok 1 - a',
    'not ok 2 - b',
    '  ---',
    '    why: so',
    '  ...',
    '# note',
    'not ok 3 - c',
    ...long,
    'ok 4 - d',
  ]
  for (const line of tap) counter.line(line)
  const report = closingReport(counter.counts(1)).split('\n')
  t.deepEqual(report.slice(0, 6), [
    'The failed tests:',
    'not ok 2 - b',
    '  ---',
    '    why: so',
    '  ...',
    'not ok 3 - c',
  ])
  t.is(report.length, 6 + 39 + 1)
  t.is(report.at(-1), '2 passed, 2 failed')
})
