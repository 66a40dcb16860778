/** The result of a test run. */
export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** For each failed test its `not ok` line and what follows it about the failure. */
  readonly failures: readonly string[]
}

export const noTests: TestCounts = { passed: 0, failed: 0, skipped: 0, failures: [] }

const testLine = /^(not )?ok \d+(?:.*# (SKIP|TODO)\b)?/
const failLine = /^# fail (\d+)$/
/** A longer account of one failure, such as the difference of two large answers, is cut. */
const longestFailure = 40

/**
 * Counts the tests in AVA's TAP output, line by line. The closing summary misses some `not ok` lines (failed hooks,
 * crashes, timeouts), and a file that crashed early appears only in the summary. So the larger number is used.
 */
export class TapCounter {
  #passed = 0
  #failed = 0
  #skipped = 0
  #summary = 0
  readonly #failures: string[][] = []
  #inFailure = false

  line(text: string): void {
    const test = testLine.exec(text)
    if (test !== null) this.#count(test[1] === undefined, test[2])
    const summary = failLine.exec(text)
    if (summary !== null) this.#summary = Number(summary[1])
    if (!text.startsWith(' ')) this.#inFailure = false
    if (text.startsWith('not ok ')) {
      this.#inFailure = true
      this.#failures.push([])
    }
    if (this.#inFailure) this.#failures.at(-1)?.push(text)
  }

  /** `exitCode`: of the test runner. An exit code other than 0 without a failed test counts as one failure. */
  counts(exitCode: number): TestCounts {
    const failed = Math.max(this.#failed, this.#summary, exitCode === 0 ? 0 : 1)
    const failures = this.#failures.map((lines) => lines.slice(0, longestFailure).join('\n'))
    return { passed: this.#passed, failed, skipped: this.#skipped, failures }
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
    failures: [...one.failures, ...other.failures],
  }
}

/** The end of a test run: its failed tests once more, which are far above by now, and the line with the counts. */
export function closingReport(counts: TestCounts): string {
  return [
    ...(counts.failures.length > 0 ? ['The failed tests:', ...counts.failures] : []),
    summaryLine(counts),
  ].join('\n')
}

/** The last line of `npm test`. */
export function summaryLine({ passed, failed, skipped }: Omit<TestCounts, 'failures'>): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
