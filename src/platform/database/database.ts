import knex, { type Knex } from 'knex'
import pg from 'pg'

const int8 = 20
const secondMs = 1000

/**
 * Money never becomes a float: int8 becomes bigint; numeric stays exact decimal text (pg's default). Set per pool,
 * so that other users of `pg` in the process keep their parsers.
 */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return oid === int8 ? BigInt : pg.types.getTypeParser(oid, format as 'text')
  },
}

/**
 * In ms. A slow statement, a lock held for long or a forgotten transaction fails, so that requests do not queue up behind it. The
 * database roles have these limits too: a pooler in transaction mode refuses them as parameters of a connection.
 */
export const serverLimits = {
  statement_timeout: 10 * secondMs,
  lock_timeout: 4 * secondMs,
  idle_in_transaction_session_timeout: 10 * secondMs,
}

function limitsFor(prepared: boolean, statementMs = serverLimits.statement_timeout) {
  return {
    connectionTimeoutMillis: 3 * secondMs,
    keepAlive: true,
    // A limit of the client as well: a frozen or unreachable server cannot apply its own.
    query_timeout: statementMs + secondMs,
    ...(prepared ? { ...serverLimits, statement_timeout: statementMs } : {}),
  }
}

interface NamedQuery {
  readonly name?: string
  readonly submit?: unknown
}

/** The session that runs a statement may not be the one that has prepared it, so no statement has a name. */
function withoutNames(connection: { query: (...args: never[]) => unknown }): void {
  const run = connection.query.bind(connection) as (...args: unknown[]) => unknown
  connection.query = (first: NamedQuery | string, ...rest: unknown[]) =>
    run(
      typeof first === 'object' && first.submit === undefined ? { ...first, name: undefined } : first,
      ...rest,
    )
}

/** What nobody uses goes back soon: where the server takes few connections, another process waits for it. */
const idleMs = 5 * secondMs

const ignore = (): void => undefined

/**
 * The pool for models and for every statement that is not on a hot path. `max`: connections. `statementMs`: time
 * limit of one statement; migrations need more than requests. `prepared`: false behind a pooler in transaction mode.
 */
export function createDb(
  url: string,
  max: number,
  statementMs = serverLimits.statement_timeout,
  prepared = true,
): Knex {
  return knex({
    client: PostgresClient as unknown as typeof Knex.Client,
    connection: {
      connectionString: url,
      types,
      ...limitsFor(prepared, statementMs),
    } as Knex.PgConnectionConfig,
    pool: { min: 0, max, idleTimeoutMillis: idleMs, ...(prepared ? {} : { afterCreate: createUnprepared }) },
    acquireConnectionTimeout: 2 * secondMs,
    // Otherwise the error of a failed statement, and so the log, contains the statement's values.
    compileSqlOnError: false,
    // Errors reach the caller. knex's own lines would be plain text in a JSON log.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  })
}

function createUnprepared(connection: pg.Client, done: (error: null, connection: pg.Client) => void): void {
  withoutNames(connection)
  done(null, connection)
}

/**
 * Runs `work` in a transaction whose statements may take `statementMs` each, for what reads a whole table. It uses a connection of
 * the pool, and behind a pooler the limit ends with the transaction.
 */
export function longTransaction<Result>(
  db: Knex,
  statementMs: number,
  work: (trx: Knex.Transaction) => Promise<Result>,
  config?: Knex.TransactionConfig,
): Promise<Result> {
  return db.transaction(async (trx) => {
    const { connectionParameters: client } = await trx.client.acquireConnection()
    const { query_timeout: usual } = client
    client.query_timeout = statementMs + secondMs
    try {
      await trx.raw(`set local statement_timeout = ${statementMs}`)
      return await work(trx)
    } finally {
      client.query_timeout = usual
    }
  }, config)
}

interface Connection {
  __knex__disposed?: unknown
}

interface KnexClient {
  _query(connection: Connection, statement: unknown): Promise<unknown>
}
const KnexPostgres: new (config: Knex.Config) => KnexClient = knex({ client: 'pg' }).client.constructor

/**
 * How models and knex's own statements use a connection; `query` below is the other way. A transaction makes a client of its own from
 * the class, so that its BEGIN and COMMIT come here too: who gets a connection whose BEGIN is executed late would write into a transaction
 * that nobody commits.
 */
class PostgresClient extends KnexPostgres {
  override _query(connection: Connection, statement: unknown): Promise<unknown> {
    return super._query(connection, statement).catch((error: unknown) => giveUp(connection, error))
  }
}

/** The server may still run a statement that has failed so. knex discards a connection with this mark instead of reusing it. */
function giveUp(connection: Connection, error: unknown): never {
  if (isDatabaseUnavailable(error)) connection.__knex__disposed = error
  throw error
}

/**
 * A hot statement is planned once: planning takes ten times as long as executing. A plan made while the tables are
 * empty must still be good when they are large, so only index lookups in nested loops are allowed.
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
/** Connections are replaced, and statements planned again, after this time. */
const renewSeconds = 600

/** A pool for one hot path alone, so that nothing else can take its connections. */
export function createHotPool(url: string, max: number, prepared = true): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    types: types as pg.CustomTypesConfig,
    ...(prepared ? { options: planOnce } : {}),
    maxLifetimeSeconds: renewSeconds,
    // Idle connections stay open: two cost nothing, a timer per request does.
    idleTimeoutMillis: 0,
    ...limitsFor(prepared),
  })
  if (!prepared) pool.on('connect', withoutNames)
  // PostgreSQL closes idle connections when it restarts; the pool replaces them. Without a listener the error ends the process.
  pool.on('error', () => undefined)
  return pool
}

/**
 * SQLSTATE classes of a server that cannot serve now: connection (08), resources with a full disk (53), operator (57), the
 * operating system (58), lock timeout (55P03).
 */
const unavailableState = /^(08|53|57|58|55P03)/
/** They end the session. At connect that is every refusal: a wrong password, a missing database, XX000 of a pooler. */
const endsSession = new Set(['FATAL', 'PANIC'])
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
])
/** knex puts the statement before some messages: `COMMIT; - Connection terminated unexpectedly`. */
const unavailableMessage =
  /(^| - )(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/

/** Whether an error means that PostgreSQL cannot serve now, so that the statement itself may be fine. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const severity = 'severity' in error && typeof error.severity === 'string' ? error.severity : ''
  return (
    unavailableState.test(code) ||
    endsSession.has(severity) ||
    unavailableCodes.has(code) ||
    error.name === 'KnexTimeoutError' ||
    unavailableMessage.test(error.message)
  )
}

/** A named, prepared statement and its values. */
export interface Statement {
  readonly name: string
  readonly text: string
  readonly values?: readonly unknown[]
}

export interface Queryable {
  query(config: { name: string; text: string; values: unknown[] }): Promise<{ rows: unknown[] }>
}

/** Runs a prepared statement on a connection of a knex pool or transaction. The columns keep the statement's names. */
export async function query<Row>(db: Knex, { name, text, values = [] }: Statement): Promise<Row[]> {
  const connection: Queryable & Connection = await db.client.acquireConnection()
  try {
    const { rows } = await connection.query({ name, text, values: [...values] })
    return rows as Row[]
  } catch (error) {
    return giveUp(connection, error)
  } finally {
    // In a transaction knex ignores this: the transaction keeps its connection.
    await db.client.releaseConnection(connection)
  }
}

/** Whether a statement that returns the rows it changes has changed its one row. */
export async function changesOne(db: Knex, statement: Statement): Promise<boolean> {
  return (await query(db, statement)).length === 1
}
