import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { transferEntries } from '../../src/ledger/accounts.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { reserve } from '../../src/ledger/transfers.js'
import { createDb } from '../../src/platform/database/database.js'
import { createBooksWatch } from '../../workers/watch-books.js'
import { runScript, type ScriptRun } from '../helpers/ops.js'
import { useWorld } from '../helpers/servers/world.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { available, freshKey, held, userWith } from './support.js'

const world = useWorld(test)

const runCheckBooks = (...args: string[]): Promise<ScriptRun> => runScript(world(), 'check-books', ...args)

/** Breaks the books as only somebody who switches the triggers off can. */
async function tamper(userId: string, units: number): Promise<void> {
  await world().db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica')
    await trx('ledger_accounts').where({ user_id: userId, kind: 'available' }).increment('balance', units)
  })
}

async function alerts(): Promise<number> {
  const { values } = await world().services.metrics.alerts.get()
  return values.find(({ labels }) => labels.kind === 'books_broken')?.value ?? 0
}

test.serial('check-books ends with 0 while the books hold and with 4 when they are broken', async (t) => {
  const { db } = world()
  const user = await userWith(db, 1_500_000n)
  await reserve(db, {
    key: freshKey(),
    ref: 'w',
    entries: transferEntries(500_000n, available(user), held(user)),
  })

  const well = await runCheckBooks()
  t.is(well.code, 0, well.err)
  t.regex(well.out, /the books hold/)
  t.regex(well.out, /USDC +chain_clearing +-1\.5 /)
  t.regex(well.out, /USDC +available +1 /)
  t.regex(well.out, /USDC +held +0\.5 /)
  t.notRegex(well.out, /BROKEN/)
  const json = JSON.parse((await runCheckBooks('--json')).out)
  t.true(json.holds)
  t.is(json.invariants.length, 8)
  t.is(
    json.sums.reduce((sum: bigint, { units }: { units: string }) => sum + BigInt(units), 0n),
    0n,
  )

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

test.serial('check-books explains itself, and refuses arguments it does not know with 2', async (t) => {
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

test.serial('started by hand it finds the stack that runs beside it, but not in production', async (t) => {
  const cwd = temporaryFolder(t)
  mkdirSync(join(cwd, 'data'))
  writeFileSync(join(cwd, '.env'), 'DATA_DIR=data\n')
  writeFileSync(join(cwd, 'data/settings.env'), `DATABASE_URL="${world().env['DATABASE_URL']}"\n`)
  const byHand = (env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [resolve('dist/scripts/ops/check-books.js')], { cwd, env })
  t.regex((await byHand({})).stdout, /the books hold/)
  await t.throwsAsync(byHand({ NODE_ENV: 'production' }), { message: /DATABASE_URL: is missing/ })
  await t.throwsAsync(byHand({ DATABASE_URL: 'postgres://127.0.0.1:1/given' }), { message: /127\.0\.0\.1:1/ })
})

test.serial('the clock raises an alert when the books are broken, and reads only what is new', async (t) => {
  const { db, services } = world()
  const watch = createBooksWatch(services)
  const before = await alerts()
  const user = await userWith(db, 100n)
  for (let i = 0; i < 3; i++) await watch()
  t.is(await alerts(), before)
  await tamper(user, 1)
  await watch()
  t.is(await alerts(), before, 'what was checked is not read again')
  await reserve(db, { key: freshKey(), ref: 'w', entries: transferEntries(10n, available(user), held(user)) })
  await watch()
  t.is(await alerts(), before + 1)
  await watch()
  t.is(await alerts(), before + 2, 'until it is mended')
})

test.serial('a check of books that grew quickly does not wait for statistics about them', async (t) => {
  t.timeout(60_000)
  const url = await world().newDatabaseUrl()
  const db = createDb(url, 1, patienceMs)
  try {
    for (const table of ['accounts', 'transfers', 'entries'])
      await db.raw(`alter table ledger_${table} set (autovacuum_enabled = off)`)
    await db.raw(accountsOfMany)
    for (let batch = 0; batch < 20; batch++) {
      await db.raw(reserves(batch))
      await db.raw(voids(batch))
    }
    const report = await checkBooks(db)
    t.true(
      report.holds,
      JSON.stringify(report, (_, value) => String(value)),
    )
    t.true(report.newest >= 40_000n)
  } finally {
    await db.destroy()
  }
})

/** Half a second by the entries' own index; seven when each resolution is compared with every entry. */
const patienceMs = 4000

const accountsOfMany = /* sql */ `
  insert into users (email, name, password_hash)
  select i || '@many.example', 'Ada Lovelace', 'none' from generate_series(1, 200) i;
  insert into ledger_accounts (user_id, kind, currency, balance) select id, 'held', 'USDC', 0 from users`

/** A thousand at a time, over all accounts: 20,000 take long when each is compared with each. */
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
