import { printLine, runAva } from '../dev/test-run/run-ava.js'
import type { TestCounts } from '../dev/test-run/tap.js'
import type { ContractServer } from './contract-stack.js'

export const contractTests = 'dist/test/contract/**/*.test.js'

/** `ok 7 - withdrawals › a withdrawal ends as completed # SKIP` */
const skippedCheck = /^ok \d+ - ([\w-]+) .*# SKIP/

/** Runs the checks of the contract against a server. Names the checks that need stand-ins when it has none. */
export async function runContract(
  { url, standIns }: ContractServer,
  {
    args = [contractTests],
    print,
    onLine = printLine,
  }: {
    readonly args?: readonly string[]
    readonly print: (text: string) => void
    /** Gets each TAP line. */
    readonly onLine?: (line: string) => void
  },
): Promise<TestCounts> {
  const env = { ...process.env, CONTRACT_URL: url, CONTRACT_STAND_INS: standIns ?? '' }
  const skipped = new Map<string, number>()
  const counts = await runAva(args, env, (line) => {
    onLine(line)
    const subject = skippedCheck.exec(line)?.[1]
    if (subject !== undefined) skipped.set(subject, (skipped.get(subject) ?? 0) + 1)
  })
  if (skipped.size > 0) {
    const named = [...skipped].map(([subject, count]) => `${subject} ${count}`).join(', ')
    print(`skipped, because they need --stand-ins: ${counts.skipped} checks (${named})`)
  }
  return counts
}
