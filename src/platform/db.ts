import knex, { type Knex } from 'knex'
import pg from 'pg'

const int8 = 20
const secondMs = 1000

/**
 * Money never passes through a float: int8 becomes bigint; numeric stays exact decimal text (pg's default). Per
 * pool, not global: other users of `pg` in the process keep their parsers.
 */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return oid === int8 ? BigInt : pg.types.getTypeParser(oid, format as 'text')
  },
}

/** A statement too slow, a lock held too long or a forgotten transaction is an error, not a queue of waiting requests. */
const limits = {
  statement_timeout: 10 * secondMs,
  lock_timeout: 4 * secondMs,
  idle_in_transaction_session_timeout: 10 * secondMs,
  connectionTimeoutMillis: 3 * secondMs,
  keepAlive: true,
}

/** The pool for models and every statement that is not on a hot path. `max`: connections. */
export function createDb(url: string, max: number): Knex {
  return knex({
    client: 'pg',
    connection: { connectionString: url, types, ...limits } as Knex.PgConnectionConfig,
    pool: { min: 0, max },
    acquireConnectionTimeout: 2 * secondMs,
    // Else a failed statement's error text, and so the log, has its values in clear.
    compileSqlOnError: false,
  })
}

/**
 * A hot statement is planned once: planning it costs ten times its execution. The plan must then not depend on
 * how small the tables happened to be, so it goes by indexes; connections are renewed and plan anew every 10 min.
 */
const planOnce =
  '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c jit=off'
const renewSeconds = 600

/** A dedicated pool for one hot path, so that nothing else can take its connections. */
export function createHotPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    types: types as pg.CustomTypesConfig,
    options: planOnce,
    maxLifetimeSeconds: renewSeconds,
    ...limits,
  })
  // An idle connection that PostgreSQL closes (restart) is replaced at the next use; without a listener it ends the process.
  pool.on('error', () => undefined)
  return pool
}

/** SQL kept as SQL: a named, prepared statement and its values. */
export interface Statement {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

export interface Queryable {
  query(config: { name: string; text: string; values: unknown[] }): Promise<{ rows: unknown[] }>
}

/** Runs a prepared statement on the connection of a knex pool or transaction. Rows are as the statement names them. */
export async function query<Row>(db: Knex, statement: Statement): Promise<Row[]> {
  const connection: Queryable = await db.client.acquireConnection()
  try {
    const { rows } = await connection.query({ ...statement, values: [...statement.values] })
    return rows as Row[]
  } finally {
    // In a transaction this is knex's own no-op: the connection stays with it.
    await db.client.releaseConnection(connection)
  }
}
