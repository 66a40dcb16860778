import type { Knex } from 'knex'
import { query } from './database.js'

/** A walk that has reached the end rests so long: rows that need work come seldom. */
const restMs = 24 * 3_600_000

/**
 * Walks a table in lots, one per call, so that a job reads a bounded number of rows per run without an index of its own.
 * `walkLot` works on the rows after a position and returns that of its last row; undefined at the end. The position is kept in
 * the process: a walk begins again when the process starts, and a day after it ended. So `walkLot` bears repetition.
 */
export function createWalk<Position>(
  walkLot: (after: Position | undefined) => Promise<Position | undefined>,
): () => Promise<void> {
  let after: Position | undefined
  let restsUntil = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() < restsUntil) return
    after = await walkLot(after)
    if (after === undefined) restsUntil = performance.now() + restMs
  }
}

/**
 * Whether nobody reads plain personal data any more: an hour after the deploy of migrations/0016-privacy.ts. Until then a walk
 * leaves it for the release before.
 */
export async function isPersonalDataSealed(db: Knex): Promise<boolean> {
  const [gate] = await query<{ open: boolean }>(db, {
    name: 'privacy.sealed',
    text: 'select personal_data_sealed() as open',
    values: [],
  })
  return gate?.open === true
}
