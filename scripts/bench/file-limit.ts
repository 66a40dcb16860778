import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Refusal } from '../bootstrap/progress.mjs'

/** How to run a script of Node with so many open files. */
export function withFileLimit(files: number, args: readonly string[]): { command: string; args: string[] } {
  return { command: 'sh', args: ['-c', `ulimit -n ${files} && exec "$0" "$@"`, process.execPath, ...args] }
}

/** Refuses when this user may not open so many files in one process. */
export async function checkFileLimit(files: number): Promise<void> {
  await promisify(execFile)('sh', ['-c', `ulimit -n ${files}`]).catch(() => {
    throw new Refusal(
      `this needs ${files} open files in one process, and the hard limit is below that: raise it with "ulimit -Hn ${files}" as root`,
    )
  })
}
