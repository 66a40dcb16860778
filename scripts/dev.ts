import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../src/platform/config/config.js'
import { takeLock } from './bootstrap/lock.mjs'
import { Refusal, say } from './bootstrap/progress.mjs'
import { checkedSettings } from './dev/check-settings.js'
import { Fleet } from './dev/fleet.js'
import { assertFree } from './dev/ports.js'
import { stackPorts } from './dev/settings.js'
import { startStack } from './dev/stack.js'

// `npm run dev`: the whole product on one machine, until a signal stops it.
const tell = (text: string): void => say(text, process.stdout)
const fleet = new Fleet(tell)
let stopping = false

async function start(): Promise<void> {
  const settings = checkedSettings(process.env)
  mkdirSync(settings.DATA_DIR, { recursive: true })
  const lock = takeLock(join(settings.DATA_DIR, 'stack.lock'))
  if (!lock.taken)
    throw new Refusal(
      `a stack runs on ${settings.DATA_DIR} already (process ${lock.pid}): stop it, or set DATA_DIR`,
    )
  process.once('exit', lock.release)
  await assertFree(stackPorts(settings), lock.afterCrash)
  const table = await startStack({ settings, fleet, say: tell })
  process.stdout.write(`\n${table}\nready http://localhost:${settings.PORT}\n`)
}

async function stop(signal: string): Promise<void> {
  if (stopping) return
  stopping = true
  tell(`stopping everything (${signal})`)
  await fleet.stop()
  tell('stopped')
  process.exit(0)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(signal))
// Who only read the first lines of our output has not asked for the end of the stack.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

try {
  await start()
} catch (error) {
  // A signal during the start makes what was waited for fail: that is no fault to tell.
  if (!stopping) {
    const told = error instanceof Refusal || error instanceof ConfigError
    process.stderr.write(`${told ? error.message : error}\n`)
    stopping = true
    await fleet.stop()
    process.exit(1)
  }
}
