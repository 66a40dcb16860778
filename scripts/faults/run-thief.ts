import { parseArgs } from 'node:util'
import { startServers } from '../bench/servers.js'
import { printProgress, Refusal } from '../bootstrap/progress.mjs'
import { missingActs } from './thief/missing-acts.js'
import { playAll, type Tally } from './thief/play-all.js'

/** `npm run faults -- thief`: interleavings of an owner and a thief over HTTP. Returns the exit code. */
export async function runThief(args: readonly string[]): Promise<number> {
  const options = { count: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } } as const
  const { values } = parseArgs({ args: [...args], options })
  const seed = whole('--seed', values.seed ?? String((Date.now() % 1e9) + 1))
  const only = values.only === undefined ? undefined : whole('--only', values.only)
  const count = only === undefined ? whole('--count', values.count ?? '1000') : 1
  printProgress(`seed ${seed}, ${only === undefined ? `${count} interleavings` : `interleaving ${only}`}`)
  const servers = await startServers('.data/faults')
  try {
    // Nothing is killed here, so no commit needs to wait for the disk.
    await servers.sql('alter database bench set synchronous_commit = off')
    const { databaseUrl, redisUrl } = servers
    const startedAt = Date.now()
    const plan = { seed, first: only ?? 0, count, webProcesses: 2, report: printProgress }
    const result = await playAll({ databaseUrl, redisUrl, namespace: `thief-${seed}` }, plan)
    const { tally, stories, knowledge, withdrawals, executed } = result
    const faults = [...result.faults, ...(count >= 1000 ? missingActs(tally) : [])]
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    process.stdout.write(
      [
        ...tableOf(tally),
        `seed ${seed}: ${count} interleavings in ${seconds} s; the thief began with ${describe(knowledge)}`,
        `${withdrawals} withdrawals, ${executed} payouts`,
        ...stories,
        faults.length === 0
          ? 'no money went to the thief, and every owner has the account'
          : faults.join('\n'),
        '',
      ].join('\n'),
    )
    return faults.length === 0 ? 0 : 1
  } finally {
    await servers.close()
  }
}

/** Each act with its outcomes, the most frequent first. */
function tableOf(tally: Tally): string[] {
  return Object.entries(tally)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([act, outcomes]) => {
      const sorted = Object.entries(outcomes).sort(([, a], [, b]) => b - a)
      return `${act.padEnd(40)}${describe(Object.fromEntries(sorted.slice(0, 8)))}`
    })
}

function describe(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([word, count]) => `${word} ${count}`)
    .join(', ')
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Refusal(`${name}: a whole number from 0`)
  return value
}
