import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { takeLock } from '../../scripts/bootstrap/lock.mjs'
import { type Program, SupervisedProcess } from '../../scripts/dev/supervise.js'
import { isRunning } from '../helpers/servers/service-process.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'

/** A program that writes its process id to a file at each start. */
function recorder(t: ExecutionContext, then: string): { program: Program; starts: () => number[] } {
  const file = join(temporaryFolder(t), 'starts')
  const args = ['-c', `echo $$ >> ${file}; ${then}`]
  const starts = (): number[] => {
    try {
      return readFileSync(file, 'utf8').trim().split('\n').map(Number)
    } catch {
      return []
    }
  }
  return { program: { command: '/bin/sh', args, signal: 'SIGTERM' }, starts }
}

test('a killed process is reported by name and started again', async (t) => {
  const { program, starts } = recorder(t, 'exec sleep 300')
  const lines: string[] = []
  const supervised = new SupervisedProcess('mailer', program, (text) => lines.push(text))
  t.teardown(() => supervised.stop(1000))
  await until('the first start', () => starts().length === 1)
  process.kill(starts()[0] ?? 0, 'SIGKILL')
  await until('the second start', () => starts().length === 2)
  t.is(lines[0], 'mailer ended (SIGKILL), starting it again in 0.25 s')
  t.true(isRunning(starts()[1] ?? 0))
})

test('a process that keeps ending is restarted with growing pauses, and its exit code is reported', async (t) => {
  const { program } = recorder(t, 'exit 3')
  const lines: string[] = []
  const supervised = new SupervisedProcess('clock', program, (text) => lines.push(text))
  await until('three failures', () => lines.length >= 3)
  await supervised.stop(1000)
  t.deepEqual(
    lines.slice(0, 3).map((text) => text.replace('clock ended (exit code 3), starting it again in ', '')),
    ['0.25 s', '0.5 s', '1 s'],
  )
})

test('a stopped process is not started again, and one that ignores its signal is killed', async (t) => {
  const { program, starts } = recorder(t, 'trap "" TERM; while :; do sleep 0.1; done')
  const lines: string[] = []
  const supervised = new SupervisedProcess('web 1', program, (text) => lines.push(text))
  await until('the start', () => starts().length === 1)
  await supervised.stop(300)
  await until('it is gone', () => !isRunning(starts()[0] ?? 0))
  t.deepEqual(lines, [])
})

const childProcess = new URL('../../scripts/bootstrap/child-process.mjs', import.meta.url)

/** Starts another process that starts `script` as its child. Returns the process ids of both. */
async function startParent(t: ExecutionContext, script: string): Promise<{ parent: number; child: number }> {
  const program = `
    import { startChild } from ${JSON.stringify(childProcess.href)}
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

const module = new URL('../../scripts/bootstrap/lock.mjs', import.meta.url).href
test('one running process holds a lock, and the others get its process id', (t) => {
  const file = join(temporaryFolder(t), 'lock')
  const lock = takeLock(file)
  t.like(takeLock(file), { taken: false, pid: process.pid })
  t.true(lock.taken)
  if (lock.taken) lock.release()
  t.false(existsSync(file))
  t.like(takeLock(file), { taken: true, afterCrash: false })
})

test('the lock of a killed process is replaced, and the next holder learns of the crash', (t) => {
  const file = join(temporaryFolder(t), 'lock')
  const program = `import { takeLock } from ${JSON.stringify(module)}
    takeLock(${JSON.stringify(file)})
    process.kill(process.pid, 'SIGKILL')`
  spawnSync(process.execPath, ['--input-type=module', '-e', program])
  t.true(existsSync(file))
  t.like(takeLock(file), { taken: true, afterCrash: true })
})

test('a lock is replaced when another process has its process id now, or when it is damaged', (t) => {
  const file = join(temporaryFolder(t), 'lock')
  for (const text of [JSON.stringify({ pid: process.pid, born: 'another boot 1' }), '{"pid":', '', 'null']) {
    writeFileSync(file, text)
    const lock = takeLock(file)
    t.like(lock, { taken: true, afterCrash: true }, text)
    t.true(readFileSync(file, 'utf8').includes(String(process.pid)))
    if (lock.taken) lock.release()
  }
})
