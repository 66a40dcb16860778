/** The result of a test run. */
export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const testLine = /^(not )?ok \d+(?:.*# (SKIP|TODO)\b)?/
const failLine = /^# fail (\d+)$/

/**
 * Counts the tests in AVA's TAP output, line by line. The closing summary misses some `not ok` lines (failed hooks,
 * crashes, timeouts), and a file that crashed early appears only in the summary. So the larger number is used.
 */
export class TapCounter {
  #passed = 0
  #failed = 0
  #skipped = 0
  #summary = 0

  line(text: string): void {
    const test = testLine.exec(text)
    if (test !== null) this.#count(test[1] === undefined, test[2])
    const summary = failLine.exec(text)
    if (summary !== null) this.#summary = Number(summary[1])
  }

  /** `exitCode`: of the test runner. An exit code other than 0 without a failed test counts as one failure. */
  counts(exitCode: number): TestCounts {
    const failed = Math.max(this.#failed, this.#summary, exitCode === 0 ? 0 : 1)
    return { passed: this.#passed, failed, skipped: this.#skipped }
  }

  #count(ok: boolean, directive: string | undefined): void {
    if (directive === 'SKIP') this.#skipped++
    else if (ok) this.#passed++
    else this.#failed++
  }
}

/** The result of two runs together. */
export function addCounts(one: TestCounts, other: TestCounts): TestCounts {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  }
}

/** The last line of `npm test`. */
export function summaryLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
