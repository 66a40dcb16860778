import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { printProgress, Refusal } from '../../bootstrap/progress.mjs'
import { freePort } from '../../dev/ports.js'
import { ProcessGroup } from '../../dev/process-group.js'
import { redisProgram, redisReady } from '../../dev/redis.js'
import { runDrill } from './drill.js'

const dataDir = '.data/faults'
const sayMs = 14_000

/** `npm run faults -- restore`: a backup under load, a lost server, and the restore. Returns the exit code. */
export async function runRestore(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ args: [...args], options: { payouts: text, seed: text } })
  const seed = whole('--seed', values.seed ?? String((Date.now() % 1e9) + 1))
  const payouts = whole('--payouts', values.payouts ?? '200')
  printProgress(`seed ${seed}: ${payouts} payouts after the backup`)
  mkdirSync(dataDir, { recursive: true })
  const processes = new ProcessGroup(printProgress)
  const port = await freePort()
  processes.start('support', 'redis', redisProgram(port, dataDir))
  const startedAt = Date.now()
  let last = ''
  const saying = setInterval(() => printProgress(`still: ${last}`), sayMs)
  const report = (line: string): void => {
    last = line
    saying.refresh()
    printProgress(line)
  }
  try {
    await redisReady(port, () => processes.mayStillStart)
    const redisUrl = `redis://127.0.0.1:${port}`
    const { faults, figures } = await runDrill({ seed, payouts, redisUrl, report })
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    const rows = figures.map(([name, value]) => `${name.padEnd(44)}${value.padStart(28)}`)
    const verdict = [
      'nothing was sent before the restore was accepted; nobody was paid twice, nobody lost a tip, and the books are what chain and bank have',
    ]
    const lines = [...rows, `seed ${seed}: ${seconds} s`, ...(faults.length === 0 ? verdict : faults), '']
    process.stdout.write(lines.join('\n'))
    return faults.length === 0 ? 0 : 1
  } finally {
    clearInterval(saying)
    await processes.stop()
  }
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(`${name}: a whole number from 1`)
  return value
}
