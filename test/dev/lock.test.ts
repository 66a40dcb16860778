import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { takeLock } from '../../scripts/bootstrap/lock.mjs'
import { temporaryFolder } from '../helpers/temporary-folder.js'

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
