import { parseArgs } from 'node:util'
import { startServers } from '../bench/servers.js'
import { printProgress, Refusal } from '../bootstrap/progress.mjs'
import { runHumanActs } from './acts/human-acts.js'

/** `npm run faults -- acts`: a random order of human acts. Returns the exit code. */
export async function runActs(args: readonly string[]): Promise<number> {
  const options = { steps: { type: 'string' }, seed: { type: 'string' } } as const
  const { values } = parseArgs({ args: [...args], options })
  const steps = positive('--steps', values.steps ?? '20000')
  const seed = positive('--seed', values.seed ?? String((Date.now() % 1e9) + 1))
  printProgress(`seed ${seed}, ${steps} steps`)
  const servers = await startServers('.data/faults')
  try {
    const { databaseUrl, redisUrl } = servers
    const addresses = { databaseUrl, redisUrl, namespace: `acts-${seed}` }
    const result = await runHumanActs(addresses, { seed, steps, report: printProgress })
    const { broken, acts, reviews, withdrawals, executed } = result
    const rows = Object.entries({ ...acts, withdrawals, executed, ...reviews })
    process.stdout.write(
      `seed ${seed}\n${rows.map(([name, count]) => `${name.padEnd(24)}${String(count).padStart(8)}\n`).join('')}`,
    )
    process.stdout.write(
      broken === undefined
        ? 'every promise was kept\n'
        : `BROKEN: ${broken.text}\n${broken.story.join('\n')}\n`,
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
