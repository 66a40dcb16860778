import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { isRunning } from '../helpers/servers/service-process.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'

const module = new URL('../../scripts/bootstrap/child-process.mjs', import.meta.url)

/** Starts another process that starts `script` as its child. Returns the process ids of both. */
async function startParent(t: ExecutionContext, script: string): Promise<{ parent: number; child: number }> {
  const program = `
    import { startChild } from ${JSON.stringify(module.href)}
    startChild({ command: '/bin/sh', args: ['-c', ${JSON.stringify(script)}], signal: 'SIGTERM' })`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => parent.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: parent.stdout }), 'line')
  return { parent: parent.pid ?? 0, child: Number(line) }
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`a child process ends when its parent gets ${signal}`, async (t) => {
    const { parent, child } = await startParent(t, 'echo $$; exec sleep 300')
    t.true(isRunning(child))
    process.kill(parent, signal)
    await until('the child has ended', () => !isRunning(child))
    t.false(isRunning(child))
  })

test('a child process gets its own stop signal when its parent ends, and has time to end cleanly', async (t) => {
  const folder = temporaryFolder(t)
  const [signalled, go, ended] = ['signalled', 'go', 'ended'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const { parent, child } = await startParent(
    t,
    `trap "touch ${signalled}; while [ ! -e ${go} ]; do sleep 0.1; done; touch ${ended}; exit 0" TERM
     echo $$; while :; do sleep 0.1; done`,
  )
  process.kill(parent, 'SIGKILL')
  await until('the child got its signal', () => existsSync(signalled))
  t.true(isRunning(child), 'it may finish its work first')
  writeFileSync(go, '')
  await until('the child has ended', () => !isRunning(child))
  t.true(existsSync(ended))
})
