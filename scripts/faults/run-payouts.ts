import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startServers } from '../bench/servers.js'
import { printProgress, Refusal } from '../bootstrap/progress.mjs'
import { killPayouts, type RoundResult } from './kill-payouts.js'

const folder = 'bench-results'
const file = `${folder}/faults-payouts.json`
const killsPerRound = 50
const killsMax = 100_000

/** What is kept between runs. */
interface Figures {
  readonly seed: number
  chapters: number
  kills: number
  readonly killsAt: Record<string, number>
  withdrawals: number
  executed: number
  readonly endings: Record<string, number>
  sendings: number
  lookups: number
  readonly faults: string[]
  seconds: number
}

function newFigures(seed: number): Figures {
  const none = { chapters: 0, kills: 0, withdrawals: 0, executed: 0, sendings: 0, lookups: 0, seconds: 0 }
  return { seed, ...none, killsAt: {}, endings: {}, faults: [] }
}

/** Adds a run's rounds to the figures of earlier runs. The provider's counters cover the whole run, so the last is used. */
function add(before: Figures, results: readonly RoundResult[], seconds: number): Figures {
  const last = results.at(-1)
  if (last === undefined) return before
  const { comparison, sendings, lookups } = last
  const kills = results.flatMap((result) => result.kills)
  const endings = { ...before.endings }
  for (const [ending, count] of Object.entries(comparison.endings))
    endings[ending] = (endings[ending] ?? 0) + count
  const killsAt = { ...before.killsAt }
  for (const { role, at } of kills) killsAt[`${role} ${at}`] = (killsAt[`${role} ${at}`] ?? 0) + 1
  return {
    seed: before.seed,
    chapters: before.chapters + results.length,
    kills: before.kills + kills.length,
    killsAt,
    withdrawals: before.withdrawals + comparison.withdrawals,
    executed: before.executed + comparison.executed,
    endings,
    sendings: before.sendings + sendings,
    lookups: before.lookups + lookups,
    faults: [...before.faults, ...comparison.faults],
    seconds: before.seconds + seconds,
  }
}

function read(): Figures {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Figures
  } catch {
    throw new Refusal(`--resume: cannot read figures from ${file}`)
  }
}

function summaryOf({
  seed,
  kills,
  withdrawals,
  executed,
  endings,
  sendings,
  lookups,
  faults,
  seconds,
}: Figures): string {
  const ended = Object.entries(endings).map(([ending, count]) => `${count} ${ending}`)
  return [
    `seed ${seed}: ${kills} kills in ${Math.round(seconds)} s`,
    `${withdrawals} withdrawals: sent ${sendings} times, looked up ${lookups} times, executed ${executed} times`,
    `final states: ${ended.join(', ')}`,
    faults.length === 0
      ? 'no withdrawal was executed twice, none was lost, and every invariant of the ledger holds'
      : faults.join('\n'),
  ].join('\n')
}

/** `npm run faults -- payouts`: the long run of kills in rounds. Returns the exit code. */
export async function runPayouts(args: readonly string[]): Promise<number> {
  const options = {
    kills: { type: 'string' },
    seed: { type: 'string' },
    resume: { type: 'boolean' },
  } as const
  const { values } = parseArgs({ args: [...args], options })
  const kills = wholeNumber('--kills', values.kills ?? '1000', killsMax)
  const before = values.resume
    ? read()
    : newFigures(wholeNumber('--seed', values.seed ?? String(Date.now() % 1e9), Number.MAX_SAFE_INTEGER))
  const rounds = Math.ceil((kills - before.kills) / killsPerRound)
  printProgress(`seed ${before.seed}, ${Math.max(0, rounds)} rounds of ${killsPerRound} kills`)
  mkdirSync(folder, { recursive: true })
  const servers = await startServers('.data/faults')
  const startedAt = Date.now()
  const results: RoundResult[] = []
  let figures = before
  const roundFinished = (result: RoundResult): void => {
    results.push(result)
    figures = add(before, results, (Date.now() - startedAt) / 1000)
    writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`)
    printProgress(
      `${figures.kills} of ${kills} kills; ${figures.withdrawals} withdrawals, ${figures.faults.length} faults found`,
    )
  }
  try {
    const { databaseUrl, redisUrl } = servers
    await killPayouts(
      { databaseUrl, redisUrl, namespace: 'faults' },
      {
        seed: before.seed,
        firstRound: before.chapters,
        rounds,
        killsPerRound,
        report: printProgress,
        roundFinished,
      },
    )
  } finally {
    await servers.close()
  }
  process.stdout.write(`${summaryOf(figures)}\nwritten to ${file}\n`)
  return figures.faults.length === 0 ? 0 : 1
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new Refusal(`${name}: a whole number up to ${max}`)
  return value
}
