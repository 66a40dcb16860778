import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { booksStatementMs, checkBooks } from '../../../src/ledger/invariants.js'
import { createDb } from '../../../src/platform/database/database.js'
import { printProgress } from '../../bootstrap/progress.mjs'
import { onServers } from '../servers.js'
import type { Outcome } from './operations.js'

const writers = 4
const stderrLength = 4000
const program = 'dist/scripts/bench/ledger/writer.js'

export interface StressOptions {
  readonly databaseUrl: string
  readonly seed: string
  /** The operations of all writers together. */
  readonly operations: number
  readonly users: number
  /** A writer is killed (SIGKILL) after every this many operations. By progress, so that a slow run has as many kills. */
  readonly killEvery: number
  readonly sampleEveryMs: number
  readonly report: (progress: string) => void
}

export type StressResult = Record<Outcome, number> & {
  readonly kills: number
  readonly samples: number
  /** Invariants that did not hold in a sample. */
  readonly broken: readonly string[]
}

/**
 * Runs random operations from four processes that are killed repeatedly. A restarted writer repeats the operations that may
 * already be done, so each key is tried until it is known to be done.
 */
export async function stressLedger(stress: StressOptions): Promise<StressResult> {
  const db = createDb(stress.databaseUrl, 2, booksStatementMs)
  const result = { posted: 0, repeated: 0, refused: 0, kills: 0, samples: 0, broken: [] as string[] }
  try {
    await addUsers(db, stress.users)
    const allWriters = Array.from({ length: writers }, (_, writer) => new Writer(stress, writer, result))
    const stopAll = (): void => {
      for (const writer of allWriters) writer.stop()
    }
    // The failure of one ends the others.
    const done = Promise.all(allWriters.map((writer) => writer.run())).finally(stopAll)
    await Promise.all([done, checkUntilDone(db, stress, allWriters, result).finally(stopAll)])
    await sample(db, 0n, result)
    return result
  } finally {
    await db.destroy()
  }
}

/** `npm run bench -- ledger-stress`: a million operations; `LEDGER_STRESS_OPERATIONS` and `LEDGER_STRESS_SEED` change them. */
export function benchLedgerStress(): Promise<{ table: string; results: unknown }> {
  const operations = Number(process.env['LEDGER_STRESS_OPERATIONS'] ?? 1_000_000)
  const seed = process.env['LEDGER_STRESS_SEED'] ?? String(Date.now())
  printProgress(`${operations} random operations, seed ${seed}`)
  return onServers(async ({ databaseUrl }) => {
    const often = { users: 200, killEvery: 10_000, sampleEveryMs: 4000 }
    const results = await stressLedger({ databaseUrl, seed, operations, ...often, report: printProgress })
    if (results.broken.length > 0)
      throw new Error(`seed ${seed} broke invariants of the ledger: ${results.broken.join('; ')}`)
    const { posted, repeated, refused, kills, samples } = results
    const table = `${operations} operations, seed ${seed}: ${posted} posted, ${repeated} repeated, ${refused} refused\n${kills} writers killed; every invariant of the ledger held in all ${samples} samples`
    return { table, results: { seed, operations, ...results } }
  })
}

async function addUsers(db: Knex, count: number): Promise<void> {
  await db.raw(
    `insert into users (email, name, password_hash) select i || '@stress.example', 'Ada Lovelace', 'none' from generate_series(1, ?::int) i`,
    [count],
  )
}

/** Checks the ledger's invariants at intervals until all writers are done. */
async function checkUntilDone(
  db: Knex,
  { sampleEveryMs, operations, report }: StressOptions,
  allWriters: readonly Writer[],
  result: { samples: number; broken: string[] },
): Promise<void> {
  let checked = 0n
  while (allWriters.some(({ finished }) => !finished)) {
    // Checks what is new since the last sample. The final sample checks everything.
    const newest = await sample(db, checked, result)
    checked = newest > 1000n ? newest - 1000n : 0n
    const done = allWriters.reduce((sum, writer) => sum + writer.done, 0)
    report(`${done} of ${operations} operations, ${result.samples} samples`)
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

/** One of the four writers, over all its processes. */
class Writer {
  done = 0
  finished = false
  #stopped = false
  #child: ChildProcess | undefined
  /** The end of the current process's standard error. */
  #stderr = ''
  readonly #stress: StressOptions
  readonly #number: number
  readonly #result: Record<Outcome | 'kills', number>

  constructor(stress: StressOptions, number: number, result: Record<Outcome | 'kills', number>) {
    this.#stress = stress
    this.#number = number
    this.#result = result
  }

  /** Starts processes until its share is done. Throws when one ends that was not killed. */
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

  /** Ends the writer. */
  stop(): void {
    this.#stopped = true
    this.#child?.kill('SIGKILL')
  }

  #failure(code: number | null, signal: string | null): string {
    const { seed } = this.#stress
    return `seed ${seed}: writer ${this.#number} ended with ${code ?? signal} after ${this.done}:\n${this.#stderr}`
  }

  async #runOnce(share: number): Promise<[number | null, NodeJS.Signals | null]> {
    const { seed, databaseUrl } = this.#stress
    const killAt = this.done + this.#stress.killEvery
    const child = spawn(process.execPath, [program, seed, ...[this.#number, this.done, share].map(String)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, DATABASE_URL: databaseUrl },
    })
    this.#child = child
    this.#stderr = ''
    child.stderr.on('data', (chunk) => {
      this.#stderr = (this.#stderr + chunk).slice(-stderrLength)
    })
    const ended = once(child, 'close')
    for await (const line of createInterface({ input: child.stdout })) {
      this.#count(line)
      // By now the process is in the middle of its next operations.
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
