import test from 'ava'
import { failedFiles, repeatFailed } from '../../scripts/dev/test-run/second-run.js'
import { closingReport, noTests, type TestCounts } from '../../scripts/dev/test-run/tap.js'

const existing = ['d/tips/confirm.test.js', 'd/tips/confirm/credit-tips.test.js', 'd/http.test.js']
const filesOf = (...titles: string[]) =>
  failedFiles(
    titles.map((title) => `not ok 3 - ${title}\n  ---`),
    'd',
    (file) => existing.includes(file),
  )

test('a failed title names its file, also where the title has the separator', (t) => {
  t.deepEqual(filesOf('tips › confirm › credit-tips › a › b', 'http › c', 'http › d'), [
    'd/tips/confirm/credit-tips.test.js',
    'd/http.test.js',
  ])
  t.deepEqual(filesOf('http › a › b'), ['d/http.test.js'])
})

test('a failure that names no file allows no second run', (t) => {
  t.is(filesOf('http › a', 'the process exited'), undefined)
})

/** A run that fails tests of these files of this folder, and whose second run fails so many. */
async function runs(failing: readonly string[], failedAgain: number, crashed = 0) {
  const failures = failing.map((name) => `not ok 1 - ${name} › is fast`)
  const first: TestCounts = { ...noTests, passed: 9, failed: failures.length + crashed, failures }
  const second: TestCounts = {
    ...noTests,
    failed: failedAgain,
    failures: failures.slice(0, failedAgain),
  }
  const calls: (readonly string[])[] = []
  const run = async (files: readonly string[]) => {
    calls.push(files)
    return second
  }
  const counts = await repeatFailed(first, 'dist/test/dev', run, () => undefined)
  return { calls, counts }
}

test('what failed beside others and passes alone does not fail the run, and is named', async (t) => {
  const { calls, counts } = await runs(['tap'], 0)
  t.deepEqual(calls, [['dist/test/dev/tap.test.js']])
  t.is(
    closingReport(counts),
    'Failed beside others and passed alone (mend them):\nnot ok 1 - tap › is fast\n10 passed, 0 failed, 1 unsteady',
  )
})

test('what fails again fails the run', async (t) => {
  t.like((await runs(['tap', 'lock'], 1)).counts, { passed: 9, failed: 2 })
})

test('many failed files, and files that crashed, are run once only', async (t) => {
  t.is((await runs(['tap', 'lock', 'build', 'postgres'], 0)).calls.length, 0)
  t.is((await runs(['tap'], 0, 1)).calls.length, 0)
})
