import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ExecutionContext } from 'ava'

/** The compiled program of the stand-ins. */
export const sandboxMain = new URL('../../scripts/sandbox/main.js', import.meta.url).pathname

/** Starts the sandbox as a process on free ports and waits for its ready line. Rejects when it ends without one. */
export async function startSandboxProcess(t: ExecutionContext, env: Record<string, string>) {
  const child = spawn(process.execPath, [sandboxMain], {
    env: { ...process.env, NODE_ENV: 'test', SANDBOX_PORT: '0', SMTP_PORT: '0', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ready = once(createInterface({ input: child.stdout }), 'line')
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`the sandbox ended with ${code}`)),
  )
  const [line] = await Promise.race([ready, ended])
  return { child, url: String(line).replace('sandbox ready ', '') }
}

/** Waits for the end of a process. Returns its exit code, or null when a signal ended it. */
export async function exitOf(child: ChildProcess): Promise<unknown> {
  return child.exitCode ?? (await once(child, 'exit'))[0]
}
