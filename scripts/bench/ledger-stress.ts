import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { booksStatementMs, checkBooks } from '../../src/ledger/invariants.js'
import { createDb } from '../../src/platform/database/database.js'
import { say } from '../bootstrap/progress.mjs'
import { openGround } from './ground.js'
import type { Outcome } from './ledger-operations.js'

const writers = 4
const lastWordsLength = 4000
const program = 'dist/scripts/bench/ledger-writer.js'

export interface Stress {
  readonly databaseUrl: string
  readonly seed: string
  /** Of all writers together. */
  readonly operations: number
  readonly users: number
  /** A writer is killed (SIGKILL) each time it got so many operations further: by progress, so that every run has kills. */
  readonly killEvery: number
  readonly sampleEveryMs: number
  readonly tell: (progress: string) => void
}

export type StressResult = Record<Outcome, number> & {
  readonly kills: number
  readonly samples: number
  /** Invariants that did not hold at some sample. */
  readonly broken: readonly string[]
}

/**
 * Random operations from four processes that are killed again and again. A writer begun anew repeats what its
 * predecessor may have done already, so each key is tried until it is known to be done.
 */
export async function stressLedger(stress: Stress): Promise<StressResult> {
  const db = createDb(stress.databaseUrl, 2, booksStatementMs)
  const result = { posted: 0, repeated: 0, refused: 0, kills: 0, samples: 0, broken: [] as string[] }
  try {
    await addUsers(db, stress.users)
    const crew = Array.from({ length: writers }, (_, writer) => new Writer(stress, writer, result))
    const stopAll = (): void => {
      for (const writer of crew) writer.stop()
    }
    // One failure ends the others, and is told with all one needs to see it again.
    const done = Promise.all(crew.map((writer) => writer.run())).finally(stopAll)
    await Promise.all([done, watch(db, stress, crew, result).finally(stopAll)])
    await sample(db, 0n, result)
    return result
  } finally {
    await db.destroy()
  }
}

/** `npm run bench -- ledger-stress`: a million operations; `LEDGER_STRESS_OPERATIONS` and `LEDGER_STRESS_SEED` change them. */
export async function benchLedgerStress(): Promise<{ table: string; results: unknown }> {
  const operations = Number(process.env['LEDGER_STRESS_OPERATIONS'] ?? 1_000_000)
  const seed = process.env['LEDGER_STRESS_SEED'] ?? String(Date.now())
  say(`${operations} random operations, seed ${seed}`)
  const ground = await openGround()
  try {
    const { databaseUrl } = ground
    const results = await stressLedger({
      databaseUrl,
      seed,
      operations,
      users: 200,
      killEvery: 10_000,
      sampleEveryMs: 4000,
      tell: say,
    })
    if (results.broken.length > 0)
      throw new Error(`seed ${seed} broke the books: ${results.broken.join('; ')}`)
    const { posted, repeated, refused, kills, samples } = results
    const table = `${operations} operations, seed ${seed}: ${posted} posted, ${repeated} repeated, ${refused} refused\n${kills} writers killed; the books held at all ${samples} samples`
    return { table, results: { seed, operations, ...results } }
  } finally {
    await ground.close()
  }
}

async function addUsers(db: Knex, count: number): Promise<void> {
  await db.raw(
    `insert into users (email, name, password_hash) select i || '@stress.example', 'Ada Lovelace', 'none' from generate_series(1, ?::int) i`,
    [count],
  )
}

/** Samples the books until all writers are done. */
async function watch(
  db: Knex,
  { sampleEveryMs, operations, tell }: Stress,
  crew: readonly Writer[],
  result: { samples: number; broken: string[] },
): Promise<void> {
  let checked = 0n
  while (crew.some(({ finished }) => !finished)) {
    // What is new since the last sample; the last one of all reads everything.
    const newest = await sample(db, checked, result)
    checked = newest > 1000n ? newest - 1000n : 0n
    const done = crew.reduce((sum, writer) => sum + writer.done, 0)
    tell(`${done} of ${operations} operations, ${result.samples} samples`)
    await sleep(sampleEveryMs, undefined, { ref: false })
  }
}

async function sample(
  db: Knex,
  after: bigint,
  result: { samples: number; broken: string[] },
): Promise<bigint> {
  const { invariants, newest } = await checkBooks(db, after)
  result.samples += 1
  result.broken.push(...invariants.filter(({ violations }) => violations > 0n).map(({ name }) => name))
  return newest
}

/** One of the four, whichever process it is at the moment. */
class Writer {
  done = 0
  finished = false
  #stopped = false
  #child: ChildProcess | undefined
  /** What the present process wrote to its standard error, at most `lastWordsLength`. */
  #lastWords = ''
  readonly #stress: Stress
  readonly #number: number
  readonly #result: Record<Outcome | 'kills', number>

  constructor(stress: Stress, number: number, result: Record<Outcome | 'kills', number>) {
    this.#stress = stress
    this.#number = number
    this.#result = result
  }

  /** Begins process after process until its share is done. Throws when one fails that nobody killed. */
  async run(): Promise<void> {
    const share = Math.ceil(this.#stress.operations / writers)
    try {
      while (this.done < share && !this.#stopped) {
        const [code, signal] = await this.#runOnce(share)
        if (signal === 'SIGKILL') this.#result.kills += 1
        else if (code !== 0) throw new Error(this.#failure(code, signal))
      }
    } finally {
      this.finished = true
    }
  }

  /** Ends it for good. */
  stop(): void {
    this.#stopped = true
    this.#child?.kill('SIGKILL')
  }

  #failure(code: number | null, signal: string | null): string {
    const { seed } = this.#stress
    return `seed ${seed}: writer ${this.#number} ended with ${code ?? signal} after ${this.done}:\n${this.#lastWords}`
  }

  async #runOnce(share: number): Promise<[number | null, NodeJS.Signals | null]> {
    const { seed, databaseUrl } = this.#stress
    const killAt = this.done + this.#stress.killEvery
    const child = spawn(process.execPath, [program, seed, ...[this.#number, this.done, share].map(String)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, DATABASE_URL: databaseUrl },
    })
    this.#child = child
    this.#lastWords = ''
    child.stderr.on('data', (chunk) => {
      this.#lastWords = (this.#lastWords + chunk).slice(-lastWordsLength)
    })
    const ended = once(child, 'close')
    for await (const line of createInterface({ input: child.stdout })) {
      this.#count(line)
      // It is in the middle of its next operations by now.
      if (this.done >= killAt) child.kill('SIGKILL')
    }
    return (await ended) as [number | null, NodeJS.Signals | null]
  }

  #count(line: string): void {
    const { done, ...counts } = JSON.parse(line) as Record<Outcome | 'done', number>
    this.done = done
    for (const outcome of ['posted', 'repeated', 'refused'] as const) this.#result[outcome] += counts[outcome]
  }
}
