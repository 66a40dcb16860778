import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../src/platform/config/read-settings.js'
import { takeLock } from './bootstrap/lock.mjs'
import { printProgress, Refusal } from './bootstrap/progress.mjs'
import { checkStackSettings } from './dev/check-settings.js'
import { assertPortsFree } from './dev/ports.js'
import { ProcessGroup } from './dev/process-group.js'
import { stackPorts } from './dev/settings.js'
import { startStack } from './dev/stack.js'

// `npm run dev`: runs the whole service with its dependencies on this machine until it gets a signal.
const print = (text: string): void => printProgress(text, process.stdout)
const processes = new ProcessGroup(print)
let stopping = false

async function start(): Promise<void> {
  const settings = checkStackSettings(process.env)
  mkdirSync(settings.DATA_DIR, { recursive: true })
  const lock = takeLock(join(settings.DATA_DIR, 'stack.lock'))
  if (!lock.taken)
    throw new Refusal(
      `npm run dev already runs with the data folder ${settings.DATA_DIR} (process ${lock.pid}): stop it, or set DATA_DIR to another folder`,
    )
  process.once('exit', lock.release)
  await assertPortsFree(stackPorts(settings), lock.afterCrash)
  const table = await startStack({ settings, processes, print, env: process.env })
  process.stdout.write(`\n${table}\nready http://localhost:${settings.PORT}\n`)
}

async function stop(signal: string): Promise<void> {
  if (stopping) return
  stopping = true
  print(`stopping all processes (${signal})`)
  await processes.stop()
  print('stopped')
  process.exit(0)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(signal))
// A closed pipe, as in `npm run dev | head`, must not stop the stack.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

try {
  await start()
} catch (error) {
  // A signal during the start makes the wait fail too. That error is not reported.
  if (!stopping) {
    const expected = error instanceof Refusal || error instanceof ConfigError
    process.stderr.write(`${expected ? error.message : error}\n`)
    stopping = true
    await processes.stop()
    process.exit(1)
  }
}
