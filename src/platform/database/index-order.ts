import type { Knex } from 'knex'
import { query, type Statement } from './database.js'

/**
 * Runs a list's statement with plans that read rows in the order of an index and stop at the limit. Otherwise a plan that is
 * cheap for the average owner (read all rows, then sort) may be chosen, and a busy owner's list reads millions of rows.
 */
export function queryInIndexOrder<Row>(db: Knex, statement: Statement): Promise<Row[]> {
  const read = async (trx: Knex): Promise<Row[]> => {
    await trx.raw(inIndexOrder)
    return query<Row>(trx, statement)
  }
  return db.isTransaction ? read(db) : db.transaction(read)
}

export const inIndexOrder = 'set local enable_sort = off; set local enable_bitmapscan = off'
