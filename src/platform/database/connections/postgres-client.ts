import knex, { type Knex } from 'knex'
import type pg from 'pg'
import { type Command, hold, RoundTrip, takeHeld } from './round-trip.js'
import { isDatabaseUnavailable, isLost } from './unavailable.js'

/** A client of pg, in a pool of knex. */
export interface Connection {
  __knex__disposed?: unknown
  readonly connection: { readonly stream: { readonly destroyed: boolean; destroy(): void } }
  query(statement: string | (Partial<Command> & { readonly submit?: unknown }), ...rest: unknown[]): unknown
}

/** Connections to a pooler: the session that runs a statement may not be the one that has prepared it, so none has a name. */
const unnamed = new WeakSet<object>()

export function withoutNames(connection: Pick<Connection, 'query'>): void {
  const run = connection.query.bind(connection)
  connection.query = (first, ...rest) =>
    run(
      typeof first === 'object' && first.submit === undefined ? { ...first, name: undefined } : first,
      ...rest,
    )
  unnamed.add(connection)
}

/** A statement as knex gives it. */
interface KnexStatement {
  readonly sql: string
  readonly bindings?: readonly unknown[]
  readonly options?: object
  response?: pg.QueryResult
}

interface KnexClient {
  _query(connection: Connection, statement: KnexStatement): Promise<unknown>
}
const KnexPostgres: new (config: Knex.Config) => KnexClient = knex({ client: 'pg' }).client.constructor

/**
 * How models and knex's own statements use a connection (`query` and `write` are the other way). A transaction makes a client of its own from
 * the class, so that its BEGIN and COMMIT come here too: after a BEGIN that is executed late, the next user of the connection would write into
 * a transaction that is never committed.
 */
export class PostgresClient extends KnexPostgres {
  override async _query(connection: Connection, statement: KnexStatement): Promise<unknown> {
    try {
      return await send(connection, statement, (alone) => super._query(connection, alone))
    } catch (error) {
      return giveUp(connection, error)
    }
  }
}

/** `sendAlone` sends a statement by itself. */
async function send(
  connection: Connection,
  statement: KnexStatement,
  sendAlone: (statement: KnexStatement) => Promise<unknown>,
): Promise<unknown> {
  const { sql: text, bindings: values = [], options } = statement
  const before = takeHeld(connection)
  const isUnsent = before[0] === begin
  if (text === begin.text) {
    hold(connection, begin)
    return statement
  }
  // A lost connection is discarded, and its transaction with it.
  if (/^rollback/i.test(text))
    return isUnsent || connection.connection.stream.destroyed ? statement : sendAlone(statement)
  if (text === commit.text) {
    if (before.length === 0) await sendAlone(statement)
    else if (!isUnsent || before.length > 1) statement.response = await sendCommit(connection, before)
    // So PostgreSQL answers when a statement had failed, and its error was caught.
    if (statement.response?.command === 'ROLLBACK') throw new Error('The transaction had failed before')
    return statement
  }
  if (before.length === 0) return sendAlone(statement)
  // Without values it may be several statements, which cannot be prepared.
  if (values.length === 0) {
    await together(connection, before)
    return sendAlone(statement)
  }
  statement.response = await together(connection, [...before, { text, values, ...options }])
  return statement
}

/** As knex writes them. BEGIN is sent with the first statement of the transaction. */
const begin = { name: 'begin', text: 'BEGIN;' }
const commit = { name: 'commit', text: 'COMMIT;' }

/** A statement that fails keeps the COMMIT behind it from being executed, and the transaction open. */
async function sendCommit(connection: Connection, before: readonly Command[]): Promise<pg.QueryResult> {
  try {
    return await together(connection, [...before, commit])
  } catch (error) {
    takeHeld(connection)
    if (!isLost(error))
      await new Promise<void>((done) => {
        connection.query('ROLLBACK', (failed: unknown) => {
          if (failed) connection.__knex__disposed = failed
          done()
        })
      })
    throw error
  }
}

/** Sends these in one round trip. The result is that of the last one. */
export async function together(
  connection: Connection,
  commands: readonly Command[],
): Promise<pg.QueryResult> {
  const trip = new RoundTrip(commands, !unnamed.has(connection))
  try {
    return await new Promise((resolve, reject) => {
      connection.query(trip, (error: unknown, result: pg.QueryResult) =>
        error ? reject(error) : resolve(result),
      )
    })
  } catch (error) {
    // Without what was refused the transaction must not go on.
    if (!trip.isSent) connection.connection.stream.destroy()
    return giveUp(connection, error)
  }
}

/**
 * The server may still run a statement that has failed so. knex discards a connection with this mark instead of reusing it. The socket of
 * a lost one is closed at once, which ends its transaction when its statement ends.
 */
export function giveUp(connection: Connection, error: unknown): never {
  if (isDatabaseUnavailable(error)) connection.__knex__disposed = error
  if (isLost(error)) connection.connection.stream.destroy()
  throw error
}
