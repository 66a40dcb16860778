/** What a run of tests came to. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const testLine = /^(not )?ok \d+(?:.*# (SKIP|TODO)\b)?/
const failLine = /^# fail (\d+)$/

/**
 * Counts AVA's TAP stream, line by line. Failed hooks, crashes and tests cut off by a timeout are `not ok` lines
 * that its closing summary leaves out in part, and a file that died early is only in that summary: the larger counts.
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

  /** `exitCode`: of the test runner; a run that ended badly without a failed test counts as one failure. */
  tally(exitCode: number): Tally {
    const failed = Math.max(this.#failed, this.#summary, exitCode === 0 ? 0 : 1)
    return { passed: this.#passed, failed, skipped: this.#skipped }
  }

  #count(ok: boolean, directive: string | undefined): void {
    if (directive === 'SKIP') this.#skipped++
    else if (ok) this.#passed++
    else this.#failed++
  }
}

/** The last line of `npm test`. */
export function tallyLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
