import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'
import { takeLock } from '../../scripts/bootstrap/lock.mjs'
import { temporaryFolder } from '../helpers/temporary-folder.js'

const module = new URL('../../scripts/bootstrap/lock.mjs', import.meta.url).href
const contender = (file: string) => `
  import { takeLock } from ${JSON.stringify(module)}
  process.stdin.once('data', () => {
    const lock = takeLock(${JSON.stringify(file)})
    process.stdout.write(JSON.stringify(lock) + '\\n')
  })
  process.stdout.write('here\\n')`

function contend(file: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', contender(file)])
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, next: async (): Promise<string> => (await lines.next()).value as string }
}

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

test('when many processes find the same stale lock, exactly one takes it', async (t) => {
  const file = join(temporaryFolder(t), 'lock')
  writeFileSync(file, JSON.stringify({ pid: process.pid, born: 'another boot 1' }))
  const contenders = Array.from({ length: 8 }, () => contend(file))
  t.teardown(() => contenders.forEach(({ child }) => void child.kill('SIGKILL')))
  await Promise.all(contenders.map(({ next }) => next()))
  for (const { child } of contenders) child.stdin.write('go\n')
  const locks = await Promise.all(
    contenders.map(async ({ next }) => JSON.parse(await next()) as { taken: boolean }),
  )
  t.is(locks.filter(({ taken }) => taken).length, 1)
  await Promise.all(
    contenders.map(({ child }) => {
      child.kill()
      return once(child, 'exit')
    }),
  )
})
