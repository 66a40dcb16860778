import type { Knex } from 'knex'
import { query, type Statement, write } from './database.js'

/**
 * Runs a list's statement with plans that read rows in the order of an index and stop at the limit. Otherwise a plan that is
 * cheap for the average owner (read all rows, then sort) may be chosen, and a busy owner's list reads millions of rows.
 */
export function queryInIndexOrder<Row>(db: Knex, statement: Statement): Promise<Row[]> {
  const read = async (trx: Knex): Promise<Row[]> => {
    await write(trx, { name: 'index-order', text: inIndexOrder })
    return query<Row>(trx, statement)
  }
  return db.isTransaction ? read(db) : db.transaction(read)
}

/** Until the transaction ends. */
export const inIndexOrder = `select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)`
