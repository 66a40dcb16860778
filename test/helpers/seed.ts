import { randomInt } from 'node:crypto'
import type { ExecutionContext } from 'ava'

/**
 * Parameters of a random test. The seed is new in every run, so that runs add up, and printed, so that any of
 * them can be had again: TEST_SEED=<seed> npx ava dist/test/domain/<file>.
 */
export function seeded(t: ExecutionContext, numRuns = 500): { seed: number; numRuns: number } {
  const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31))
  t.log(`TEST_SEED=${seed}`)
  return { seed, numRuns }
}
