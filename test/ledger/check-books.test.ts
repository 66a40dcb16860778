import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { transferEntries } from '../../src/ledger/accounts.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { reserve } from '../../src/ledger/transfers.js'
import { createDb } from '../../src/platform/database/database.js'
import { createBooksCheck } from '../../workers/watch-books.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import { runOpsScript, type ScriptRun } from '../helpers/run-ops-script.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { available, createUserWith, held, newKey } from './support.js'

const world = useWorld(test)

const runCheckBooks = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'check-books', ...args)

/** Changes a balance with the triggers switched off. */
async function tamper(userId: string, units: number): Promise<void> {
  await world().db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica')
    await trx('ledger_accounts').where({ user_id: userId, kind: 'available' }).increment('balance', units)
  })
}

const alerts = () => countAlerts(world(), 'books_broken')

test.serial('check-books ends with 0 while the invariants hold, and with 4 otherwise', async (t) => {
  const { db } = world()
  const user = await createUserWith(db, 1_500_000n)
  await reserve(db, {
    key: newKey(),
    ref: 'w',
    entries: transferEntries(500_000n, available(user), held(user)),
  })

  const consistent = await runCheckBooks()
  t.is(consistent.code, 0, consistent.err)
  t.regex(consistent.out, /the books hold/)
  t.regex(consistent.out, /USDC +custody_wallets +-1\.5 /)
  t.regex(consistent.out, /USDC +available +1 /)
  t.regex(consistent.out, /USDC +held +0\.5 /)
  t.notRegex(consistent.out, /BROKEN/)
  const json = JSON.parse((await runCheckBooks('--json')).out)
  t.true(json.holds)
  t.is(json.invariants.length, 10)
  t.is(
    json.sums.reduce((sum: bigint, { units }: { units: string }) => sum + BigInt(units), 0n),
    0n,
  )

  const ofToday = await runCheckBooks('--since', new Date(Date.now() - 7_200_000).toISOString().slice(0, 10))
  t.regex(ofToday.out, /USDC +held +0\.5 .* 1 entries/)
  for (const day of ['2999-01-01', '2026-02-30', '1.11.2026', '2026-11-01T00:00', ''])
    t.is((await runCheckBooks('--since', day)).code, 2, day)

  await tamper(user, 7)
  const broken = await runCheckBooks()
  t.is(broken.code, 4)
  t.regex(broken.out, /BROKEN {2}every cached balance is the sum of its entries: 1/)
  const brokenJson = await runCheckBooks('--json')
  t.is(brokenJson.code, 4)
  t.false(JSON.parse(brokenJson.out).holds)
  await tamper(user, -7)
  t.is((await runCheckBooks()).code, 0)
})

test.serial('check-books prints help, and refuses unknown arguments with 2', async (t) => {
  const help = await runCheckBooks('--help')
  t.is(help.code, 0)
  t.regex(help.out, /npm run ops -- check-books/)
  t.regex(help.out, /--json/)
  for (const argument of ['--apply', 'now', '--json=yes']) {
    const refused = await runCheckBooks(argument)
    t.is(refused.code, 2, argument)
    t.regex(refused.err, /--help/)
    t.is(refused.out, '')
  }
})

test.serial('check-books finds the settings of a running stack, but not in production', async (t) => {
  const cwd = temporaryFolder(t)
  mkdirSync(join(cwd, 'data'))
  writeFileSync(join(cwd, '.env'), 'DATA_DIR=data\n')
  writeFileSync(join(cwd, 'data/settings.env'), `DATABASE_URL="${world().env['DATABASE_URL']}"\n`)
  const byHand = (env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [resolve('dist/scripts/ops/money/check-books.js')], { cwd, env })
  t.regex((await byHand({})).stdout, /the books hold/)
  await t.throwsAsync(byHand({ NODE_ENV: 'production' }), { message: /DATABASE_URL: is missing/ })
  await t.throwsAsync(byHand({ DATABASE_URL: 'postgres://127.0.0.1:1/given' }), {
    message: /127\.0\.0\.1:1/,
  })
})

test.serial('the clock alarms when an invariant is violated, and reads only new transfers', async (t) => {
  const { db, services } = world()
  const watch = createBooksCheck(as('clock', services))
  const before = await alerts()
  const user = await createUserWith(db, 100n)
  for (let i = 0; i < 3; i++) await watch()
  t.is(await alerts(), before)
  await tamper(user, 1)
  await watch()
  t.is(await alerts(), before, 'checked transfers are not read again')
  await reserve(db, { key: newKey(), ref: 'w', entries: transferEntries(10n, available(user), held(user)) })
  await watch()
  t.is(await alerts(), before + 1)
  await watch()
  t.is(await alerts(), before + 2, 'until it is repaired')
})

test.serial('a check of a ledger that grew quickly is fast without table statistics', async (t) => {
  const url = await world().newDatabaseUrl()
  const db = createDb(url, 1, maxStatementMs)
  try {
    for (const table of ['accounts', 'transfers', 'entries'])
      await db.raw(`alter table ledger_${table} set (autovacuum_enabled = off)`)
    await db.raw(accountsOfMany)
    for (let batch = 0; batch < 40; batch++) {
      await db.raw(reserves(batch))
      await db.raw(voids(batch))
    }
    const report = await checkBooks(db)
    t.true(
      report.holds,
      JSON.stringify(report, (_, value) => String(value)),
    )
    t.true(report.newest >= 80_000n)
  } finally {
    await db.destroy()
  }
})

/** By the index of entries it takes a second; comparing each resolution with every entry takes half a minute. */
const maxStatementMs = 15_000

const accountsOfMany = /* sql */ `
  insert into users (email, name, password_hash)
  select i || '@many.example', 'Ada Lovelace', 'none' from generate_series(1, 200) i;
  insert into ledger_accounts (user_id, kind, currency, balance) select id, 'held', 'USDC', 0 from users`

/** A thousand reserves over all accounts. */
function reserves(batch: number): string {
  return /* sql */ `
    with held as (select id, row_number() over () as n from ledger_accounts where kind = 'held'),
    t as (
      insert into ledger_transfers (idem, kind, ref)
      select 'many:${batch}:' || i, 'reserve', 'x' from generate_series(1, 1000) i returning id)
    insert into ledger_entries (transfer_id, account_id, amount, balance_after)
    select t.id, h.id, 10, 0 from t join held h on h.n = 1 + t.id % 200
    union all
    select t.id, a.id, -10, null from t, ledger_accounts a where a.kind = 'fx' and a.currency = 'USDC'`
}

function voids(batch: number): string {
  return /* sql */ `
    with t as (
      insert into ledger_transfers (idem, kind, ref, resolves)
      select idem || ':resolve', 'void', 'x', id from ledger_transfers
      where idem like 'many:${batch}:%' and kind = 'reserve' returning id, resolves)
    insert into ledger_entries (transfer_id, account_id, amount, balance_after)
    select t.id, e.account_id, -e.amount, e.balance_after from t join ledger_entries e on e.transfer_id = t.resolves`
}
