import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { startChild } from '../../bootstrap/child-process.mjs'
import { TapCounter, type TestCounts } from './tap.js'

/** Runs AVA with these files and options and counts its tests. `onLine` gets each TAP line, and by default prints it. */
export async function runAva(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  onLine: (line: string) => void = printLine,
): Promise<TestCounts> {
  const program = ['scripts/bootstrap/ava.mjs', '--tap', ...args]
  const runner = startChild({ command: process.execPath, args: program, signal: 'SIGTERM', env }, 'pipe')
  const ended = once(runner, 'exit')
  const counter = new TapCounter()
  if (runner.stdout !== null)
    for await (const line of createInterface({ input: runner.stdout })) {
      counter.line(line)
      onLine(line)
    }
  const [exitCode] = await ended
  runner.stdin?.end()
  return counter.counts(exitCode ?? 1)
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
