import type { Knex } from 'knex'
import { loadDatabaseUrl } from '../../../src/platform/config/config.js'
import { createDb } from '../../../src/platform/database/database.js'

/** What is shown together is read at once. */
const connections = 2

/** Does what needs the database alone, and releases it. `statementMs`: as for createDb. */
export async function withDatabase<Result>(
  work: (db: Knex) => Promise<Result>,
  statementMs?: number,
): Promise<Result> {
  const db = createDb(loadDatabaseUrl(), connections, statementMs)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}
