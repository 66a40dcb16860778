import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestCounts } from './tap.js'

/** More failed files than this are no chance. */
const mostFiles = 3

/** The compiled test files that the `not ok` lines name. Undefined when one of them names none. */
export function failedFiles(
  failures: readonly string[],
  folder: string,
  exists: (file: string) => boolean = existsSync,
): readonly string[] | undefined {
  const files = new Set<string>()
  for (const failure of failures) {
    const file = fileOf(failure.split('\n')[0] ?? '', folder, exists)
    if (file === undefined) return undefined
    files.add(file)
  }
  return [...files]
}

/** `not ok 7 - tips › confirm › credit-tips › title` comes from `tips/confirm/credit-tips.test.js`. */
function fileOf(line: string, folder: string, exists: (file: string) => boolean): string | undefined {
  const parts = line.replace(/^not ok \d+ - /, '').split(' › ')
  return parts
    .map((_, end) => `${join(folder, ...parts.slice(0, end))}.test.js`)
    .findLast((file, end) => end > 0 && exists(file))
}

/**
 * When few files of a run failed, runs these once more; the caller sees that nothing runs beside them. What passes then depends
 * on how busy the machine is: it does not fail the run, but the report names it, and somebody must mend it.
 */
export async function repeatFailed(
  first: TestCounts,
  folder: string,
  run: (files: readonly string[]) => Promise<TestCounts>,
  print: (text: string) => void,
): Promise<TestCounts> {
  const again = failedFiles(first.failures, folder)
  if (first.failed === 0 || first.failed > first.failures.length) return first
  if (again === undefined || again.length > mostFiles) return first
  print(`failed beside others; once more, alone: ${again.join(', ')}`)
  const second = await run(again)
  if (second.failed > 0) return { ...first, failures: [...first.failures, ...second.failures] }
  return {
    passed: first.passed + first.failed,
    failed: 0,
    skipped: first.skipped,
    failures: [],
    unsteady: first.failures,
  }
}
