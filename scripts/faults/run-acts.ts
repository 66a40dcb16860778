import { parseArgs } from 'node:util'
import { startServers } from '../bench/servers.js'
import { printProgress, Refusal } from '../bootstrap/progress.mjs'
import { runHumanActs } from './acts/human-acts.js'

/** Of so many operators' commands one runs in a process of its own, which takes about a second. */
const perSpawned = 50

/** `npm run faults -- acts`: a random order of human acts. Returns the exit code. */
export async function runActs(args: readonly string[]): Promise<number> {
  const options = {
    steps: { type: 'string' },
    seed: { type: 'string' },
    'no-deduplicates': { type: 'boolean' },
  } as const
  const { values } = parseArgs({ args: [...args], options })
  const steps = positive('--steps', values.steps ?? '20000')
  const seed = positive('--seed', values.seed ?? String((Date.now() % 1e9) + 1))
  const deduplicates = values['no-deduplicates'] !== true
  printProgress(`seed ${seed}, ${steps} steps, FIATPAY_DEDUPLICATES=${deduplicates}`)
  const servers = await startServers('.data/faults')
  try {
    // Nothing is killed here, so no commit needs to wait for the disk.
    await servers.sql('alter database bench set synchronous_commit = off')
    const { databaseUrl, redisUrl } = servers
    const addresses = { databaseUrl, redisUrl, namespace: `acts-${seed}` }
    const startedAt = Date.now()
    const plan = { seed, steps, deduplicates, perSpawned, report: printProgress }
    const { broken, acts, reviews, withdrawals, executed, commands } = await runHumanActs(addresses, plan)
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    const rows = Object.entries({ ...acts, withdrawals, executed, ...reviews, ...commands, seconds })
    process.stdout.write(
      `seed ${seed}\n${rows.map(([name, count]) => `${name.padEnd(24)}${String(count).padStart(8)}\n`).join('')}`,
    )
    process.stdout.write(
      broken === undefined
        ? 'every promise was kept\n'
        : `BROKEN at step ${broken.step}: ${broken.text}\n${broken.story.join('\n')}\n`,
    )
    return broken === undefined ? 0 : 1
  } finally {
    await servers.close()
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(`${name}: a whole number from 1`)
  return value
}
