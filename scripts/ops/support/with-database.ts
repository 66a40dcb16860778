import type { Knex } from 'knex'
import { loadDatabase } from '../../../src/platform/config/own-settings.js'
import { createDb } from '../../../src/platform/database/database.js'

/** Commands run at most two statements in parallel. */
const connections = 2

/** Runs `work` with the database, and closes its connections. `statementMs`: as for createDb. */
export async function withDatabase<Result>(
  work: (db: Knex) => Promise<Result>,
  statementMs?: number,
): Promise<Result> {
  const { url, prepared } = loadDatabase()
  const db = createDb(url, connections, statementMs, prepared)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}
