import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'ava'
import { move } from '../../src/ledger/accounts.js'
import { reserve } from '../../src/ledger/transfers.js'
import { createBooksWatch } from '../../workers/watch-books.js'
import { useWorld } from '../helpers/world.js'
import { available, freshKey, held, userWith } from './support.js'

const world = useWorld(test)

async function checkBooks(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, ['dist/scripts/check-books.js', ...args], {
    env: { ...process.env, DATABASE_URL: world().env['DATABASE_URL'] },
  })
  const text = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    text.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    text.err += chunk
  })
  const [code] = await once(child, 'close')
  return { code, ...text }
}

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

test.serial('check-books ends with 0 while the books hold and with 1 when they are broken', async (t) => {
  const { db } = world()
  const user = await userWith(db, 1_500_000n)
  await reserve(db, { key: freshKey(), ref: 'w', legs: move(500_000n, available(user), held(user)) })

  const well = await checkBooks()
  t.is(well.code, 0, well.err)
  t.regex(well.out, /the books hold/)
  t.regex(well.out, /USDC +chain_clearing +-1\.5 /)
  t.regex(well.out, /USDC +available +1 /)
  t.regex(well.out, /USDC +held +0\.5 /)
  t.notRegex(well.out, /BROKEN/)
  const json = JSON.parse((await checkBooks('--json')).out)
  t.true(json.holds)
  t.is(json.invariants.length, 8)
  t.is(
    json.sums.reduce((sum: bigint, { units }: { units: string }) => sum + BigInt(units), 0n),
    0n,
  )

  await tamper(user, 7)
  const broken = await checkBooks()
  t.is(broken.code, 1)
  t.regex(broken.out, /BROKEN {2}every cached balance is the sum of its entries: 1/)
  const brokenJson = await checkBooks('--json')
  t.is(brokenJson.code, 1)
  t.false(JSON.parse(brokenJson.out).holds)
  await tamper(user, -7)
  t.is((await checkBooks()).code, 0)
})

test.serial('check-books explains itself, and refuses arguments it does not know with 2', async (t) => {
  const help = await checkBooks('--help')
  t.is(help.code, 0)
  t.regex(help.out, /npm run ops -- check-books/)
  t.regex(help.out, /--json/)
  for (const argument of ['--apply', 'now', '--json=yes']) {
    const refused = await checkBooks(argument)
    t.is(refused.code, 2, argument)
    t.regex(refused.err, /--help/)
    t.is(refused.out, '')
  }
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
  await reserve(db, { key: freshKey(), ref: 'w', legs: move(10n, available(user), held(user)) })
  await watch()
  t.is(await alerts(), before + 1)
  await watch()
  t.is(await alerts(), before + 2, 'until it is mended')
})
