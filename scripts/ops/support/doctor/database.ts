import type { Knex } from 'knex'
import { mostConnections } from '../../../../src/compose.js'
import type { Config } from '../../../../src/platform/config/config.js'
import { createDb } from '../../../../src/platform/database/database.js'
import { migrationSource } from '../../../../src/platform/database/migrations/migrate.js'
import { readClock } from '../../../../src/platform/database/read-clock.js'
import { askPosition, untilReplayed } from '../../../../src/platform/database/read-pool.js'
import { roleOf } from '../../../database/roles-sql.js'
import { type RoleKind, roleKinds, type TableRights, tableRights } from '../../../database/table-rights.js'
import { deployedProcesses } from '../../../deploy/processes.js'
import { type Check, check, type Finding, findingsOr, isLocal, reasonOf } from './check.js'

/** What Debian 12 has. Older ones are not tried. */
const oldestVersion = 15
/** Sign-in codes and signatures have windows of 30 seconds; logs of several machines are compared. */
const skewWarningMs = 1000
const skewWrongMs = 5000

export interface Server {
  readonly version: number
  readonly versionText: string
  readonly role: string
  readonly superuser: boolean
  readonly database: string
  readonly readOnly: boolean
  readonly tls: boolean
  readonly fsync: boolean
  readonly maxConnections: number
  readonly reserved: number
  readonly others: number
  readonly statement: string
  readonly lock: string
  readonly idle: string
}

const serverSql = /* sql */ `
  select current_setting('server_version_num')::int / 10000 as version,
         current_setting('server_version') as "versionText",
         current_user as role, r.rolsuper as superuser, current_database() as database,
         pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "readOnly",
         coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as tls,
         current_setting('fsync')::boolean as fsync,
         current_setting('max_connections')::int as "maxConnections",
         current_setting('superuser_reserved_connections')::int
           + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved,
         (select count(*)::int from pg_stat_activity
           where datname is not null and datname <> current_database()) as others,
         current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
         current_setting('idle_in_transaction_session_timeout') as idle
    from pg_roles r where r.rolname = current_user`

/** `webProcesses`: how many of them will run. Of the workers one each. */
export async function checkDatabase(
  db: Knex,
  { database }: Config,
  webProcesses: number,
): Promise<readonly Check[]> {
  let server: Server | undefined
  const reached = await check('database', async () => {
    server = await readServer(db)
    return findServer(server, database)
  })
  if (server === undefined) return reached
  const found = server
  return [
    ...reached,
    ...(await check('schema', () => findSchema(db))),
    ...(await check('database rights', () => findRights(db, found.role))),
    ...(await check('connections', async () => findConnections(found, database, webProcesses))),
    ...(database.prepared ? [] : await check('statement limits', async () => findLimits(found))),
    ...(await check('clock of the database', () => findSkew(db))),
    ...(database.standby ? await check('standby for reads', findStandby(db, database.standby)) : []),
  ]
}

export async function readServer(db: Knex): Promise<Server> {
  try {
    const { rows } = await db.raw<{ rows: Server[] }>(serverSql)
    if (rows[0] !== undefined) return rows[0]
  } catch (error) {
    if (!String(error).includes('unsupported startup parameter')) throw error
    throw new Error(
      'a pooler in transaction mode is in front of the database: add ?pgbouncer=true to DATABASE_URL',
    )
  }
  throw new Error('the server does not say who is connected')
}

function findServer(server: Server, { url, prepared }: Config['database']): readonly Finding[] {
  const { version, versionText, role, database, readOnly, tls, fsync, superuser } = server
  return findingsOr(
    `PostgreSQL ${versionText}, ${role} on ${database}${tls ? ', with TLS' : ''}`,
    version < oldestVersion && [
      'wrong',
      `PostgreSQL ${versionText} is older than ${oldestVersion}, the oldest that is tried`,
    ],
    readOnly && ['wrong', 'the server takes no writes: it is a standby, or its transactions are read only'],
    !fsync && ['wrong', 'fsync is off: a power failure may lose or break what was committed'],
    superuser && ['warning', `${role} is a superuser, which no process needs`],
    // Behind a pooler the server only sees the pooler's own connection.
    !tls &&
      prepared &&
      !isLocal(url) && [
        'warning',
        'the connection is not encrypted: add sslmode=verify-full to DATABASE_URL',
      ],
  )
}

async function findSchema(db: Knex): Promise<Finding> {
  const tables = Object.keys(tableRights)
  const { rows: missing } = await db.raw<{ rows: { name: string }[] }>(
    'select name from unnest(?::text[]) as name where to_regclass(name) is null',
    [tables],
  )
  if (missing.length > 0)
    return [
      'wrong',
      `tables are missing (${missing.map(({ name }) => name).join(', ')}): run npm run migrate`,
    ]
  const { rows } = await db.raw<{ rows: { readable: boolean }[] }>(
    `select has_table_privilege('knex_migrations', 'select') as readable`,
  )
  if (rows[0]?.readable !== true) return ['ok', 'every table is there; only their owner sees the migrations']
  const files = (await migrationSource.getMigrations([])).map(migrationSource.getMigrationName)
  const applied: string[] = await db('knex_migrations').pluck('name')
  const lacking = files.filter((name) => !applied.includes(name))
  if (lacking.length > 0) return ['wrong', `not migrated: ${lacking.join(', ')}: run npm run migrate`]
  const newer = applied.filter((name) => !files.includes(name))
  if (newer.length > 0) return ['warning', `a newer release has applied ${newer.join(', ')}`]
  return ['ok', `${files.length} migrations, up to date`]
}

type Verb = 'select' | 'insert' | 'update' | 'delete'

/** What a role must be able to do with a table, perhaps not with each column. The owner's user may do everything. */
function verbsOf(kind: RoleKind | undefined, { read, append, change, write, moved }: TableRights): Verb[] {
  if (kind === undefined || write?.includes(kind)) return ['select', 'insert', 'update', 'delete']
  if (change?.includes(kind)) return ['select', 'insert', 'update']
  if (append?.includes(kind))
    return moved === undefined ? ['select', 'insert'] : ['select', 'insert', 'update']
  return read?.includes(kind) ? ['select'] : []
}

/** Also of a second role that is in the first while its password changes. Who made the roles is in several. */
export async function kindOf(db: Knex, role: string): Promise<RoleKind | undefined> {
  const groups: string[] = await db('pg_auth_members as m')
    .join('pg_roles as g', 'g.oid', 'm.roleid')
    .join('pg_roles as u', 'u.oid', 'm.member')
    .where('u.rolname', role)
    .whereIn('g.rolname', roleKinds.map(roleOf))
    .distinct()
    .pluck('g.rolname')
  const name = groups.length === 1 ? groups[0] : undefined
  return roleKinds.find((one) => [role, name].includes(roleOf(one)))
}

export async function findRights(db: Knex, role: string): Promise<Finding> {
  const kind = await kindOf(db, role)
  const needed = Object.entries(tableRights).flatMap(([table, rights]) =>
    verbsOf(kind, rights).map((verb) => ({ table, verb })),
  )
  const { rows } = await db.raw<{ rows: { right: string }[] }>(
    /* sql */ `
    select r.verb || ' on ' || r.tbl as right
      from unnest(?::text[], ?::text[]) as r (tbl, verb)
     where to_regclass(r.tbl) is not null
       and not case r.verb when 'delete' then has_table_privilege(r.tbl, r.verb)
                           else has_any_column_privilege(r.tbl, r.verb) end`,
    [needed.map(({ table }) => table), needed.map(({ verb }) => verb)],
  )
  if (rows.length === 0)
    return ['ok', kind === undefined ? `${role} may do everything` : `${role} has the rights of its role`]
  const [first] = rows
  const remedy =
    kind === undefined
      ? 'it neither owns the tables nor is a role of npm run ops -- keys roles'
      : 'run the SQL of npm run ops -- keys roles'
  return ['wrong', `${role} lacks ${first?.right} and ${rows.length - 1} other rights: ${remedy}`]
}

function findConnections(
  { maxConnections, reserved, others }: Server,
  database: Config['database'],
  webProcesses: number,
): Finding {
  const workers = deployedProcesses.filter((name) => name !== 'web').length
  const sum = webProcesses * mostConnections(database, 'web') + workers * mostConnections(database, 'worker')
  const what = `${webProcesses} web processes (--web) and ${workers} workers open at most ${sum} connections`
  if (!database.prepared)
    return ['ok', `${what} to the pooler, which has limits of its own (max_client_conn)`]
  const free = maxConnections - reserved - others
  const server = `PostgreSQL takes ${maxConnections}, of which ${reserved} are reserved and ${others} are used by other databases`
  if (sum <= free) return ['ok', `${what}; ${server}`]
  return [
    'wrong',
    `${what}; ${server}: lower DB_POOL, raise max_connections, or put a pooler between (docs/deploy.md)`,
  ]
}

export function findLimits({ role, ...limits }: Server): Finding {
  const settings = {
    statement_timeout: ['10s', limits.statement],
    lock_timeout: ['4s', limits.lock],
    idle_in_transaction_session_timeout: ['10s', limits.idle],
  } as const
  const missing = Object.entries(settings).filter(([, [, value]]) => value === '0')
  if (missing.length === 0) return ['ok', 'the role has time limits of its own']
  const sql = missing.map(([name, [value]]) => `alter role ${role} set ${name} = '${value}';`).join(' ')
  return ['wrong', `nothing ends a slow statement: ${sql} Then restart the pooler`]
}

/** Without it everything works: reads go to the primary. */
function findStandby(db: Knex, standby: NonNullable<Config['database']['standby']>): () => Promise<Finding> {
  return async () => {
    const reader = createDb(standby.url, 1, undefined, standby.prepared)
    try {
      await untilReplayed(reader, await askPosition(db))
      return ['ok', 'DATABASE_READ_URL is a standby that has replayed everything']
    } catch (error) {
      return ['warning', `DATABASE_READ_URL is not used: ${reasonOf(error)}`]
    } finally {
      await reader.destroy()
    }
  }
}

async function findSkew(db: Knex): Promise<Finding> {
  const before = Date.now()
  const theirs = (await readClock(db)).getTime()
  const after = Date.now()
  return skewFinding(theirs - (before + after) / 2, (after - before) / 2)
}

/** `toleranceMs`: how exact the measurement is. */
export function skewFinding(skewMs: number, toleranceMs: number): Finding {
  const off = Math.max(0, Math.abs(skewMs) - toleranceMs)
  const text = `${(off / 1000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine`
  if (off > skewWrongMs) return ['wrong', `${text}: run an NTP service such as systemd-timesyncd on both`]
  if (off > skewWarningMs) return ['warning', text]
  return ['ok', 'agrees with the clock of this machine']
}
