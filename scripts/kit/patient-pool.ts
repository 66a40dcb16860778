import type { Knex } from 'knex'

/** Lets a pool of a test or a run wait longer for a connection than a request may: on a busy machine everything takes longer. */
export function patient(db: Knex, waitMs = 20_000): Knex {
  db.client.pool.acquireTimeoutMillis = waitMs
  return db
}
