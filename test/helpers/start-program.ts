import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ExecutionContext } from 'ava'
import { until } from './until.js'

/** Starts a program and waits until it works: until it has printed `says`, or answers at an address. It is killed after the test. */
export async function startProgram(
  t: ExecutionContext,
  [command, ...args]: readonly [string, ...string[]],
  { cwd, env, ...sign }: { cwd: string; env: Record<string, string> } & ({ says: string } | { at: string }),
) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env } })
  const ended = once(child, 'exit')
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(kill)
  await until('the program works', async () => {
    if (child.exitCode !== null) throw new Error(output)
    if ('says' in sign) return output.includes(sign.says)
    return (await fetch(sign.at).catch(() => undefined)) !== undefined
  })
  return { kill, output: () => output }
}
