import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { isRunning } from '../helpers/servers/processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { until } from '../helpers/until.js'

const module = new URL('../../scripts/bootstrap/keep.mjs', import.meta.url)

/** Another process that keeps `command` running and tells the numbers: its keeper's and the command's own. */
async function startKeeping(t: ExecutionContext, script: string): Promise<{ starter: number; kept: number }> {
  const program = `
    import { keep } from ${JSON.stringify(module.href)}
    keep({ command: '/bin/sh', args: ['-c', ${JSON.stringify(script)}], signal: 'SIGTERM' })`
  const starter = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => starter.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: starter.stdout }), 'line')
  return { starter: starter.pid ?? 0, kept: Number(line) }
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`what a process keeps ends when that process gets ${signal}`, async (t) => {
    const { starter, kept } = await startKeeping(t, 'echo $$; exec sleep 300')
    t.true(isRunning(kept))
    process.kill(starter, signal)
    await until('the kept program is gone', () => !isRunning(kept))
    t.false(isRunning(kept))
  })

test('a kept program is told by its own signal, and given the time to end in order', async (t) => {
  const folder = temporaryFolder(t)
  const [told, go, ended] = ['told', 'go', 'ended'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const { starter, kept } = await startKeeping(
    t,
    `trap "touch ${told}; while [ ! -e ${go} ]; do sleep 0.1; done; touch ${ended}; exit 0" TERM
     echo $$; while :; do sleep 0.1; done`,
  )
  process.kill(starter, 'SIGKILL')
  await until('it is told', () => existsSync(told))
  t.true(isRunning(kept), 'it ends when it has done what it has to')
  writeFileSync(go, '')
  await until('the kept program is gone', () => !isRunning(kept))
  t.true(existsSync(ended))
})
