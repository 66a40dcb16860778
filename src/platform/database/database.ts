import knex, { type Knex } from 'knex'
import pg from 'pg'
import {
  type Connection,
  giveUp,
  PostgresClient,
  together,
  withoutNames,
} from './connections/postgres-client.js'
import { hold, takeHeld } from './connections/round-trip.js'

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

function createUnprepared(connection: Connection, done: (error: null, connection: Connection) => void): void {
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
    const connection = await trx.client.acquireConnection()
    const { connectionParameters: client } = connection
    const { query_timeout: usual } = client
    client.query_timeout = statementMs + secondMs
    try {
      await trx.raw(`set local statement_timeout = ${statementMs}`)
      const result = await work(trx)
      // COMMIT has the usual time again.
      const before = takeHeld(connection)
      if (before.length > 0) await together(connection, before)
      return result
    } finally {
      client.query_timeout = usual
    }
  }, config)
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
    const statement = { name, text, values: [...values] }
    const before = takeHeld(connection)
    const { rows } =
      before.length === 0
        ? await connection.query(statement)
        : await together(connection, [...before, statement])
    return rows as Row[]
  } catch (error) {
    return giveUp(connection, error)
  } finally {
    // In a transaction knex ignores this: the transaction keeps its connection.
    await db.client.releaseConnection(connection)
  }
}

/**
 * Runs a statement whose result is not used. In a transaction it is sent with the next one, at the latest with COMMIT, which rejects
 * with its error.
 */
export async function write(db: Knex, { name, text, values = [] }: Statement): Promise<void> {
  if (!db.isTransaction) {
    await query(db, { name, text, values })
    return
  }
  const connection = await db.client.acquireConnection()
  if ((db as Knex.Transaction).isCompleted()) throw new Error(`The transaction has ended before ${name}`)
  hold(connection, { name, text, values: [...values] })
}

/** Whether a statement that returns the rows it changes has changed its one row. */
export async function changesOne(db: Knex, statement: Statement): Promise<boolean> {
  return (await query(db, statement)).length === 1
}
