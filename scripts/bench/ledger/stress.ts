import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { booksStatementMs, checkBooks } from '../../../src/ledger/invariants.js'
import { createDb } from '../../../src/platform/database/database.js'
import { printProgress } from '../../bootstrap/progress.mjs'
import { withClosing } from '../../kit/closing.js'
import type { Outcome } from '../measurement.js'
import { onServers } from '../servers.js'
import type { OperationOutcome } from './operations.js'
import type { Batch } from './writer.js'

const writers = 4
const program = 'dist/scripts/bench/ledger/writer.js'

interface StressOptions {
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

type StressResult = Record<OperationOutcome | 'kills' | 'samples', number> & {
  /** Invariants that did not hold in a sample. */
  readonly broken: string[]
}

/**
 * Runs random operations from four processes that are killed repeatedly. A restarted writer repeats the operations that may
 * already be done, so each key is tried until it is known to be done.
 */
export function stressLedger(stress: StressOptions): Promise<StressResult> {
  const { operations, sampleEveryMs, report } = stress
  return withClosing(async (defer) => {
    const db = createDb(stress.databaseUrl, 2, booksStatementMs)
    defer(() => db.destroy())
    const result: StressResult = { posted: 0, repeated: 0, refused: 0, kills: 0, samples: 0, broken: [] }
    await db.raw(
      `insert into users (email, name, password_hash) select i || '@stress.example', 'Ada Lovelace', 'none' from generate_series(1, ?::int) i`,
      [stress.users],
    )
    const children = new Set<ChildProcess>()
    defer(() => {
      for (const child of children) child.kill('SIGKILL')
    })
    const done = Array.from({ length: writers }, () => 0)
    const writing = { ended: false }
    const share = Math.ceil(operations / writers)
    const all = done.map((_, writer) => write(stress, writer, share, { done, children, result }))
    const written = Promise.all(all).finally(() => {
      writing.ended = true
    })
    // Checks what is new since the last sample. The final sample checks everything.
    let checked = 0n
    const sample = async (after: bigint): Promise<void> => {
      const { invariants, newest } = await checkBooks(db, after)
      result.samples += 1
      result.broken.push(...invariants.filter(({ violations }) => violations > 0n).map(({ name }) => name))
      checked = newest > 1000n ? newest - 1000n : 0n
    }
    while (!writing.ended) {
      await sample(checked)
      report(
        `${done.reduce((sum, one) => sum + one, 0)} of ${operations} operations, ${result.samples} samples`,
      )
      await Promise.race([written, sleep(sampleEveryMs)])
    }
    await written
    await sample(0n)
    return result
  })
}

interface Progress {
  /** Up to where each writer has done all. */
  readonly done: number[]
  readonly children: Set<ChildProcess>
  readonly result: StressResult
}

/** Starts processes of one writer until its share is done. Throws when one ends that was not killed. */
async function write(
  { seed, databaseUrl, killEvery }: StressOptions,
  writer: number,
  share: number,
  { done, children, result }: Progress,
): Promise<void> {
  while ((done[writer] ?? 0) < share) {
    const from = done[writer] ?? 0
    const child = fork(program, [seed, ...[writer, from, share].map(String)], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
    })
    children.add(child)
    child.on('message', ({ upTo, counts }: Batch) => {
      done[writer] = upTo
      for (const outcome of ['posted', 'repeated', 'refused'] as const) result[outcome] += counts[outcome]
      // By now the process is in the middle of its next operations.
      if (upTo >= from + killEvery) child.kill('SIGKILL')
    })
    const [code, signal] = await once(child, 'close')
    children.delete(child)
    if (signal === 'SIGKILL') result.kills += 1
    else if (code !== 0)
      throw new Error(`seed ${seed}: writer ${writer} ended with ${code ?? signal} after ${done[writer]}`)
  }
}

const usualOperations = 1_000_000

/** `npm run bench -- ledger-stress`: a million operations; `LEDGER_STRESS_OPERATIONS` and `LEDGER_STRESS_SEED` change them. */
export function benchLedgerStress(): Promise<Outcome> {
  const operations = Number(process.env['LEDGER_STRESS_OPERATIONS'] ?? usualOperations)
  const seed = process.env['LEDGER_STRESS_SEED'] ?? String(Date.now())
  printProgress(`${operations} random operations, seed ${seed}`)
  return onServers(async ({ databaseUrl }) => {
    const often = { users: 200, killEvery: 10_000, sampleEveryMs: 4000 }
    const results = await stressLedger({ databaseUrl, seed, operations, ...often, report: printProgress })
    if (results.broken.length > 0)
      throw new Error(`seed ${seed} broke invariants of the ledger: ${results.broken.join('; ')}`)
    const { posted, repeated, refused, kills, samples } = results
    const table = `${operations} operations, seed ${seed}: ${posted} posted, ${repeated} repeated, ${refused} refused\n${kills} writers killed; every invariant of the ledger held in all ${samples} samples`
    const rows = [
      ['operations', operations],
      ['writers killed', kills],
    ] as const
    return {
      table,
      results: { seed, operations, ...results },
      rows: operations === usualOperations ? rows : undefined,
    }
  })
}
