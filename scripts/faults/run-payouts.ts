import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { openGround } from '../bench/ground.js'
import { Refusal, say } from '../bootstrap/progress.mjs'
import { type ChapterResult, killPayouts } from './payouts.js'

const folder = 'bench-results'
const file = `${folder}/faults-payouts.json`
const killsPerChapter = 50
const killsMost = 100_000

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

/** A run's figures grow from chapter to chapter: what was counted before the run is added once. */
function add(before: Figures, results: readonly ChapterResult[], seconds: number): Figures {
  const last = results.at(-1)
  if (last === undefined) return before
  const { verdict, sendings, lookups } = last
  const kills = results.flatMap((result) => result.kills)
  const endings = { ...before.endings }
  for (const [ending, count] of Object.entries(verdict.endings))
    endings[ending] = (endings[ending] ?? 0) + count
  const killsAt = { ...before.killsAt }
  for (const { role, at } of kills) killsAt[`${role} ${at}`] = (killsAt[`${role} ${at}`] ?? 0) + 1
  return {
    seed: before.seed,
    chapters: before.chapters + results.length,
    kills: before.kills + kills.length,
    killsAt,
    withdrawals: before.withdrawals + verdict.withdrawals,
    executed: before.executed + verdict.executed,
    endings,
    sendings: before.sendings + sendings,
    lookups: before.lookups + lookups,
    faults: [...before.faults, ...verdict.faults],
    seconds: before.seconds + seconds,
  }
}

function read(): Figures {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Figures
  } catch {
    throw new Refusal(`--resume: there are no figures in ${file}`)
  }
}

function report({
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
    `${withdrawals} withdrawals, sent ${sendings} times, asked about ${lookups} times, executed ${executed} times`,
    `ended: ${ended.join(', ')}`,
    faults.length === 0
      ? 'no withdrawal was executed twice, none was lost, the books hold'
      : faults.join('\n'),
  ].join('\n')
}

/** `npm run faults -- payouts`: the long run of kills, chapter by chapter. Returns the exit code. */
export async function runPayouts(args: readonly string[]): Promise<number> {
  const options = {
    kills: { type: 'string' },
    seed: { type: 'string' },
    resume: { type: 'boolean' },
  } as const
  const { values } = parseArgs({ args: [...args], options })
  const kills = whole('--kills', values.kills ?? '1000', killsMost)
  const before = values.resume
    ? read()
    : newFigures(whole('--seed', values.seed ?? String(Date.now() % 1e9), Number.MAX_SAFE_INTEGER))
  const chapters = Math.ceil((kills - before.kills) / killsPerChapter)
  say(`seed ${before.seed}, ${Math.max(0, chapters)} chapters of ${killsPerChapter} kills`)
  mkdirSync(folder, { recursive: true })
  const ground = await openGround('.data/faults')
  const began = Date.now()
  const results: ChapterResult[] = []
  let figures = before
  const finished = (result: ChapterResult): void => {
    results.push(result)
    figures = add(before, results, (Date.now() - began) / 1000)
    writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`)
    say(
      `${figures.kills} of ${kills} kills; ${figures.withdrawals} withdrawals, ${figures.faults.length} faults`,
    )
  }
  try {
    const { databaseUrl, redisUrl } = ground
    const where = { databaseUrl, redisUrl, namespace: 'faults' }
    const plan = {
      seed: before.seed,
      firstChapter: before.chapters,
      chapters,
      killsPerChapter,
      tell: say,
      finished,
    }
    await killPayouts(where, plan)
  } finally {
    await ground.close()
  }
  process.stdout.write(`${report(figures)}\nwritten to ${file}\n`)
  return figures.faults.length === 0 ? 0 : 1
}

function whole(name: string, text: string, most: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw new Refusal(`${name}: a whole number up to ${most}`)
  return value
}
