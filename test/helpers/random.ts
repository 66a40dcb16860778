import { randomInt } from 'node:crypto'
import type { ExecutionContext } from 'ava'

/** Numbers in [0, 1), the same everywhere for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Parameters of a random test. Every run has a new seed, which is printed. To repeat a run:
 * TEST_SEED=<seed> npm test -- <file>. `TEST_RUNS=all` makes `allRuns`, where they cost more seconds than each `npm test`
 * can spend.
 */
export function seededRuns(
  t: ExecutionContext,
  usualRuns = 500,
  allRuns = usualRuns,
): { seed: number; numRuns: number } {
  const numRuns = process.env['TEST_RUNS'] === 'all' ? allRuns : usualRuns
  const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31))
  t.log(`TEST_SEED=${seed}`)
  return { seed, numRuns }
}
