import { randomBytes } from 'node:crypto'
import test from 'ava'
import type { Knex } from 'knex'
import pg from 'pg'
import { createRoles } from '../../scripts/database/create-roles.js'
import { roleOf, rolesSql, urlOfRole } from '../../scripts/database/roles-sql.js'
import { type RoleKind, roleKinds, tableRights } from '../../scripts/database/table-rights.js'
import { patient } from '../../scripts/kit/patient-pool.js'
import { compose } from '../../src/compose.js'
import { measureState } from '../../src/operators/measure-state.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { type ProcessKind, secretsOf } from '../../src/platform/config/process-secrets.js'
import { createDb, serverLimits } from '../../src/platform/database/database.js'
import { beat, createMeasurements } from '../../src/platform/monitoring/measurements.js'
import { workKinds } from '../../src/platform/queue/wake-ups.js'
import { workers } from '../../workers/registry.js'
import { registerPerson } from '../helpers/make/creators.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { runBatch, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

/** Runs `work` with a connection of this role. */
async function as<Result>(kind: RoleKind, work: (db: Knex) => Promise<Result>): Promise<Result> {
  const db = patient(createDb(urlOfRole(world().env['DATABASE_URL'] ?? '', kind), 1))
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/** What PostgreSQL says of a statement of this role: `denied`, or `allowed` also when another check refuses it. */
function attempt(kind: RoleKind, sql: string): Promise<'allowed' | 'denied'> {
  return as(kind, async (db) => {
    const trx = await db.transaction()
    const error = await trx.raw(sql).then(
      () => undefined,
      (failure: { code?: string }) => failure,
    )
    await trx.rollback()
    return error?.code === '42501' ? 'denied' : 'allowed'
  })
}

test('every table has one line of rights, and nobody stands in two lists of it', async (t) => {
  const { rows } = await world().db.raw<{ rows: { name: string }[] }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and relname !~ '^knex_migrations' order by 1`,
  )
  t.deepEqual(
    Object.keys(tableRights).sort(),
    rows.map(({ name }) => name),
    'a new table needs a line in scripts/database/table-rights.ts',
  )
  for (const [table, { read = [], append = [], change = [], write = [] }] of Object.entries(tableRights)) {
    const kinds = [...read, ...append, ...change, ...write]
    t.is(new Set(kinds).size, kinds.length, table)
  }
})

test.serial('database-roles prints the SQL that makes exactly these rights, and may run again', async (t) => {
  const { code, out } = await runOpsScript(world(), 'database-roles')
  t.is(code, 0)
  t.true(out.includes(rolesSql().trimEnd()))
  const read = async () => {
    const { rows } = await world().db.raw(
      `select table_name, column_name, grantee, string_agg(privilege_type, ' ' order by privilege_type) as verbs
         from information_schema.column_privileges where grantee = any(?) group by 1, 2, 3 order by 1, 2, 3`,
      [roleKinds.map(roleOf)],
    )
    return rows as object[]
  }
  const before = await read()
  await world().db.raw(`grant all on all tables in schema public to ${roleOf('mailer')}`)
  t.notDeepEqual(await read(), before)
  await createRoles(world().env['DATABASE_URL'] ?? '')
  t.deepEqual(await read(), before)
})

test('a role that logs in through a pooler has the limits of time', async (t) => {
  for (const kind of roleKinds) {
    const client = new pg.Client(urlOfRole(world().env['DATABASE_URL'] ?? '', kind))
    await client.connect()
    for (const [name, ms] of Object.entries(serverLimits))
      t.deepEqual((await client.query(`show ${name}`)).rows, [{ [name]: `${ms / 1000}s` }], kind)
    await client.end()
  }
})

const steals = 'select sealed_secret from wallets'
const posts = 'insert into ledger_entries (transfer_id, account_id, amount) values (1, 1, 1)'
const sends = "update withdrawals set send_state = 'sending', sends = sends + 1, sent_at = now()"

test.serial('what a role never does is refused', async (t) => {
  const table: [sql: string, allowed: readonly RoleKind[]][] = [
    [steals, ['provisioner', 'custodian', 'take-outs']],
    ["update wallets set sealed_secret = '', public_key = 'x', key_version = 1", ['provisioner']],
    [
      "insert into wallets (user_id, public_key, sealed_secret, key_version) values (gen_random_uuid(), 'x', '', 1)",
      ['provisioner'],
    ],
    ['select * from wallet_key_checks', ['provisioner', 'custodian', 'take-outs']],
    [
      posts,
      [
        'web',
        'verifier',
        'settlement',
        'payouts',
        'reconciler',
        'custodian',
        'take-outs',
        'clock',
        'operators',
      ],
    ],
    ['update ledger_entries set amount = 0', []],
    ['delete from ledger_transfers', []],
    ['update ledger_accounts set user_id = null', []],
    [sends, ['payouts']],
    ['delete from withdrawals', []],
    [
      'select password_hash from users',
      roleKinds.filter((kind) => kind !== 'finder' && kind !== 'mailer' && kind !== 'dispatcher'),
    ],
    ['select sealed_secret, sealed_key from webhook_endpoints', ['web', 'dispatcher', 'operators']],
    ['update users set email = email', ['web', 'operators']],
    ["update audit_log set actor = 'nobody'", []],
    ['select * from partitions.events_default', []],
    ['create table mine (id int)', []],
    ['drop table audit_log', []],
    ['alter table wallets disable trigger wallets_key_in_use', []],
    [
      'select * from emails',
      ['web', 'settlement', 'payouts', 'reconciler', 'take-outs', 'mailer', 'clock', 'operators'],
    ],
  ]
  for (const [sql, allowed] of table)
    for (const kind of roleKinds)
      t.is(await attempt(kind, sql), allowed.includes(kind) ? 'allowed' : 'denied', `${kind}: ${sql}`)
})

test.serial('web and the clock may measure the state, and every role shows what they measured', async (t) => {
  for (const kind of ['web', 'clock'] as const) await t.notThrowsAsync(as(kind, measureState), kind)
  const state = { name: 'state', everySeconds: () => 0, awaited: true }
  await as('clock', (db) => createMeasurements(db, [{ ...state, measure: () => measureState(db) }])())
  for (const kind of roleKinds) {
    const found = await as(kind, (db) =>
      createMeasurements(db, [{ ...state, measure: () => measureState(db) }])(),
    )
    t.like(found.get('state')?.value, { shortWallets: 0 }, kind)
    await as(kind, beat)
  }
})

test.serial('the batch of each worker runs with its role and its secrets alone', async (t) => {
  await registerPerson(world())
  const env: Record<string, string> = {
    ...world().env,
    DATA_KEY: randomBytes(32).toString('base64'),
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'support@tips.example',
  }
  for (const kind of workKinds) {
    const url = urlOfRole(env['DATABASE_URL'] ?? '', kind)
    Object.assign(process.env, env)
    const services = compose(
      loadConfig({ ...env, DATABASE_URL: url }, secretsOf[kind satisfies ProcessKind]),
      'test',
    )
    try {
      await workers[kind].checkStart?.(services)
      await t.notThrowsAsync(runBatch(workers[kind].createBatch(services)), kind)
    } finally {
      await services.close()
    }
  }
  t.is((await world().db('wallets').whereNull('public_key')).length, 0)
})

test('while a password changes, a second role in the first has its rights and no others', async (t) => {
  const trx = await world().db.transaction()
  try {
    await trx.raw(`create role tipping_mailer_b login in role ${roleOf('mailer')}`)
    await trx.raw('set local role tipping_mailer_b')
    await t.notThrowsAsync(trx.raw('select * from emails for update limit 1'))
    await t.throwsAsync(trx.raw('select * from ledger_entries limit 1'), { message: /permission denied/ })
  } finally {
    await trx.rollback()
  }
})
