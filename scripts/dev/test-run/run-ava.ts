import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { startChild, stopChild } from '../../bootstrap/child-process.mjs'
import { TapCounter, type TestCounts } from './tap.js'

/**
 * AVA ends a run in which no test ends for three minutes (ava.config.js). It cannot end a thread that waits inside a synchronous
 * call, and would wait for it for ever.
 */
const silentMs = 5 * 60_000

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
  const silence = setTimeout(() => {
    process.stderr.write(`AVA printed nothing for ${silentMs / 60_000} minutes and is killed\n`)
    void stopChild(runner, 1000)
  }, silentMs)
  if (runner.stdout !== null)
    for await (const line of createInterface({ input: runner.stdout })) {
      silence.refresh()
      counter.line(line)
      onLine(line)
    }
  const [exitCode] = await ended
  clearTimeout(silence)
  runner.stdin?.end()
  return counter.counts(exitCode ?? 1)
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
