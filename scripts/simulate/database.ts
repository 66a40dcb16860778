import { mkdirSync } from 'node:fs'
import pg from 'pg'
import { migrateToLatest } from '../../src/platform/database/migrations/migrate.js'
import { freePort } from '../dev/ports.js'
import { startPostgres } from '../dev/postgres/postgres.js'
import { withConnection } from '../dev/postgres/session.js'
import type { Defer } from '../kit/closing.js'

/** A run's database lives for seconds. Statistics that come at any time would change plans, and with them the order of rows. */
const flags = [
  'autovacuum=off',
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'jit=off',
  'plan_cache_mode=force_generic_plan',
].flatMap((setting) => ['-c', setting])

/**
 * The functions that make two runs differ, in a schema before the system's own. A tick is a microsecond, and every look at the clock
 * takes one. The run sets it forward; the migrations use it too, so that defaults do.
 */
const clockSql = /* sql */ `
  create schema simulated;
  create sequence simulated.ticks start 1798761600000000;
  create sequence simulated.uuids;
  create function simulated.clock_timestamp() returns timestamptz volatile language sql
    as 'select to_timestamp(nextval(''simulated.ticks'') / 1000000.0::float8)';
  create function simulated.now() returns timestamptz stable language sql
    as 'select to_timestamp(last_value / 1000000.0::float8) from simulated.ticks';
  create function simulated.statement_timestamp() returns timestamptz stable language sql as 'select simulated.now()';
  create function simulated.transaction_timestamp() returns timestamptz stable language sql as 'select simulated.now()';
  create function simulated.gen_random_uuid() returns uuid volatile language sql
    as 'select md5(nextval(''simulated.uuids'')::text)::uuid'`

/** Makes new databases with the clock of a run. */
export interface Databases {
  create(): Promise<{ readonly url: string; drop(): Promise<void> }>
}

/**
 * A PostgreSQL of its own. Returns its URL without the name of a database. For a seed to tell the same story, nothing else may run on it:
 * an open transaction in any database keeps dead rows on their pages, and rows without an order come in another one.
 */
export async function startServer(defer: Defer, dataDir: string): Promise<string> {
  mkdirSync(dataDir, { recursive: true })
  const postgres = await startPostgres({ dataDir, port: await freePort(), flags })
  defer(() => postgres.stop())
  return postgres.url('')
}

/** `server`: its URL without the name of a database. `prefix`: begins the names of those that are made. */
export async function databasesOn(server: string, prefix: string): Promise<Databases> {
  const urlOf = (name: string): string => server + name
  const template = `${prefix}template`
  const admin = (text: string): Promise<unknown> =>
    withConnection(urlOf('postgres'), (client) => client.query(text))
  await admin(`drop database if exists ${template} with (force)`)
  await admin(`create database ${template}`)
  await withConnection(urlOf(template), (client) => client.query(clockSql))
  await admin(`alter database ${template} set search_path = public, simulated, pg_catalog`)
  await migrateToLatest(urlOf(template))
  let made = 0
  return {
    async create() {
      const name = `${prefix}${++made}`
      await admin(`drop database if exists ${name} with (force)`)
      await admin(`create database ${name} template ${template} strategy file_copy`)
      await admin(`alter database ${name} set search_path = public, simulated, pg_catalog`)
      return {
        url: urlOf(name),
        drop: async () => void (await admin(`drop database if exists ${name} with (force)`)),
      }
    },
  }
}

/** A connection of the run itself, which waits for no turn. */
export async function openControl(url: string): Promise<pg.Client> {
  const control = new pg.Client({ connectionString: url })
  await control.connect()
  return control
}
