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
  // On this side of the wire too: a server that is frozen or cut off says nothing at all.
  query_timeout: 11 * secondMs,
  lock_timeout: 4 * secondMs,
  idle_in_transaction_session_timeout: 10 * secondMs,
  connectionTimeoutMillis: 3 * secondMs,
  keepAlive: true,
}

const ignore = (): void => undefined

/**
 * The pool for models and every statement that is not on a hot path. `max`: connections. `statementMs`: a
 * migration may take longer than a request ever should.
 */
export function createDb(url: string, max: number, statementMs = limits.statement_timeout): Knex {
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      types,
      ...limits,
      statement_timeout: statementMs,
      query_timeout: statementMs + secondMs,
    } as Knex.PgConnectionConfig,
    pool: { min: 0, max },
    acquireConnectionTimeout: 2 * secondMs,
    // Else a failed statement's error text, and so the log, has its values in clear.
    compileSqlOnError: false,
    // Whoever asked is told by an error; knex's own lines would stand as bare text among the JSON of the log.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  })
}

/**
 * A hot statement is planned once: planning it costs ten times its execution. A plan made while the tables were
 * empty must stay right when they are large, so only index lookups in nested loops are left to choose from.
 */
const planOnce = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
]
  .map((setting) => `-c ${setting}`)
  .join(' ')
/** Connections are replaced, and plan anew, after this long. */
const renewSeconds = 600

/** A dedicated pool for one hot path, so that nothing else can take its connections. */
export function createHotPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    types: types as pg.CustomTypesConfig,
    options: planOnce,
    maxLifetimeSeconds: renewSeconds,
    // Kept open: two connections cost nothing, a timer for each request does.
    idleTimeoutMillis: 0,
    ...limits,
  })
  // An idle connection that PostgreSQL closes (restart) is replaced at the next use; without a listener it ends the process.
  pool.on('error', () => undefined)
  return pool
}

/** SQLSTATE classes of a server that cannot serve now: connection (08), resources (53), operator (57), lock timeout (55P03). */
const awayState = /^(08|53|57|55P03)/
const awayCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'])
/** knex puts the statement before some of them: `COMMIT; - Connection terminated unexpectedly`. */
const awayMessage =
  /(^| - )(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/

/** Whether an error says that PostgreSQL cannot serve now, and nothing about what it was asked. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    awayState.test(code) ||
    awayCodes.has(code) ||
    error.name === 'KnexTimeoutError' ||
    awayMessage.test(error.message)
  )
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
  const connection: Queryable & { __knex__disposed?: unknown } = await db.client.acquireConnection()
  try {
    const { rows } = await connection.query({ ...statement, values: [...statement.values] })
    return rows as Row[]
  } catch (error) {
    // The server may still be at work on it; knex throws away a connection with this mark instead of lending it again.
    if (isDatabaseUnavailable(error)) connection.__knex__disposed = error
    throw error
  } finally {
    // In a transaction this is knex's own no-op: the connection stays with it.
    await db.client.releaseConnection(connection)
  }
}
