import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { findPgDump } from '../../scripts/ops/support/pg-dump.js'
import { composeRefundReader } from '../../src/compose.js'
import { listDebts } from '../../src/ledger/receivables/read-receivables.js'
import { createDb } from '../../src/platform/database/database.js'
import { markSeen, readEpoch } from '../../src/platform/database/restore-guard.js'
import { runsLockedSql } from '../../src/platform/database/switches/switches.js'
import { createMovedCheck } from '../../src/reserves/after-restore.js'
import { createClient } from '../helpers/http/client.js'
import type { Person } from '../helpers/make/creators.js'
import {
  createFiatIntent,
  payFiatIntent,
  referenceOf,
  settleIntentNow,
} from '../helpers/make/fiat/fiat-tips.js'
import {
  bank,
  countExecutions,
  createWithdrawal,
  creatorWithBalance,
  creditCreator,
  makeWithdrawalsDue,
  quickPayouts,
  readBalance,
  readWithdrawalRow,
  reconcileAll,
  requestWithdrawal,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { copyDatabase, createDatabase } from '../helpers/servers/database.js'
import { as, openOwnersPool } from '../helpers/servers/roles.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { startWorkerLoops } from '../helpers/servers/worker-loops.js'
import { useWorld, type World } from '../helpers/servers/world.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { advanceWhile, until } from '../helpers/until.js'
import { listBrokenInvariants } from '../ledger/support.js'

const world = useWorld(test, { fiat: true, chain: true, env: quickPayouts })

const reason = ['--reason', 'drill', '--as', 'ngozi']
const sealed = (reference: string) => ['--apply', `--confirm=${reference}`, ...reason]
/** A bank account that only one creator uses. */
const ownBank = (last: number) => ({ ...bank, accountNumber: String(9_000_000_000 + last) })

/** Sends and follows everything until the provider has paid it. */
async function settle(one: World): Promise<void> {
  await sendDuePayouts(one)
  await until('everything is paid', async () => {
    await reconcileAll(one)
    const open = await one
      .db('withdrawals')
      .whereIn('status', ['pending', 'submitted', 'processing'])
      .whereNotIn('send_state', ['identity_hold', 'confirmation_hold'])
    return open.length === 0
  })
}

/** The status of the answer, and the error or how the withdrawal stands then. */
async function cancel({ request }: World, { session }: Person, reference: string): Promise<string> {
  const path = `/payouts/${reference}/cancel`
  const answer = await request<{ code?: string; status?: string }>('POST', path, { session, body: {} })
  return `${answer.status} ${answer.body.code ?? answer.body.status}`
}

/** With a pg_dump for this server, the file restores to a copy that knows that it is one. */
async function restoreReally(t: ExecutionContext, version: number): Promise<void> {
  try {
    findPgDump(version)
  } catch {
    return t.log(`no pg_dump of version ${version} here: only its refusal was tested`)
  }
  const out = join(temporaryFolder(t), 'real.dump')
  await markSeen(world().db)
  const backup = await runOpsScript(world(), 'backup', '--out', out)
  t.is(backup.code, 0, backup.err)
  const { url } = await createDatabase('template0')
  const path = findPgDump(version).path.replace(/pg_dump$/, 'pg_restore')
  const { status, stderr } = spawnSync(path, ['--no-owner', '--exit-on-error', '--dbname', url, out], {
    encoding: 'utf8',
  })
  t.is(status, 0, stderr)
  const db = createDb(url, 1)
  t.is((await readEpoch(db)).state, 'copied')
  await db.destroy()
}

test.serial('a backup is whole or not there, and says which pg_dump it needs', async (t) => {
  const folder = temporaryFolder(t)
  const out = join(folder, 'backup.dump')
  const { rows } = await world().db.raw(
    `select current_setting('server_version_num')::int / 10000 as version`,
  )
  const { version } = rows[0] as { version: number }
  const none = await runOpsScript(world(), 'backup', '--out', out, '--pg-dump', '/bin/false')
  t.is(none.code, 1)
  t.regex(none.err, new RegExp(`the server is PostgreSQL ${version}, .* none was found.*--pg-dump`))
  // Says that it fits, writes half a file, and fails.
  const broken = join(folder, 'pg_dump')
  writeFileSync(
    broken,
    `#!/bin/sh\n[ "$1" = --version ] && echo "pg_dump (PostgreSQL) ${version}.1" && exit\necho half; echo "$*" "$PGPASSWORD" >&2; exit 1\n`,
    { mode: 0o755 },
  )
  const half = await runOpsScript(world(), 'backup', '--out', out, '--pg-dump', broken)
  t.is(half.code, 1)
  t.regex(half.err, /pg_dump failed, and there is no backup: --format=custom --no-password/)
  t.deepEqual(readdirSync(folder), ['pg_dump'])
  writeFileSync(
    broken,
    `#!/bin/sh\n[ "$1" = --version ] && echo "pg_dump (PostgreSQL) ${version}.1" || echo whole\n`,
  )
  const whole = await runOpsScript(world(), 'backup', '--out', out, '--pg-dump', broken, '--json')
  t.like(JSON.parse(whole.out), { ok: true, file: out, bytes: 6 })
  t.is((await runOpsScript(world(), 'backup', '--out', out)).code, 1, 'it does not replace another')
  t.true(existsSync(out))
  await restoreReally(t, version)
  t.throws(() => findPgDump(999), { message: /the server is PostgreSQL 999/ })
})

test.serial('after a restore nobody is paid twice, and nothing is sent until it is adopted', async (t) => {
  const { db, env, fiat, services } = world()
  await markSeen(db)
  const ada = await creatorWithBalance(world(), 600)
  const ben = await creatorWithBalance(world(), 600)
  const cyn = await creatorWithBalance(world(), 400)
  const dan = await creatorWithBalance(world(), 0)
  const eve = await creatorWithBalance(world(), 2)
  const fay = await creatorWithBalance(world(), 10)
  const withdraw = (one: World, who: Person, body = {}) =>
    createWithdrawal(one, who, { amountUSDC: 10, ...ownBank([ada, ben, cyn, eve].indexOf(who)), ...body })
  await withdraw(world(), ada)
  await withdraw(world(), ben)
  await withdraw(world(), eve, { amountUSDC: 1 })
  await settle(world())
  const held = await withdraw(world(), cyn, { amountUSDC: 300 })
  t.is(held.heldFor, 'identity')

  // Not sent in the backup, and afterwards the one is sent and the other cancelled.
  const unsent = (await withdraw(world(), cyn)).reference
  const idle = (await withdraw(world(), fay)).reference
  await db('withdrawals')
    .whereIn('reference', [unsent, idle])
    .update({ due_at: new Date(Date.now() + 3_600_000) })

  // The backup is taken while withdrawals are asked for and sent.
  const loops = startWorkerLoops(services, ['payouts', 'reconciler'])
  const load = Array.from({ length: 6 }, (_, index) =>
    requestWithdrawal(world(), index % 2 === 0 ? ada : ben, {
      amountUSDC: 10,
      ...ownBank(index % 2),
    }),
  )
  const backup = await copyDatabase(env['DATABASE_URL'] ?? '')
  await Promise.allSettled(load)
  await loops.stop()
  t.is(await cancel(world(), fay, idle), '200 failed')
  await makeWithdrawalsDue(world())
  await settle(world())

  // The lost time: more withdrawals, and one that waited is released.
  const later = []
  for (let index = 0; index < 8; index++)
    later.push((await withdraw(world(), index % 2 === 0 ? ada : ben)).reference)
  const release = await runOpsScript(world(), 'payouts', 'release', held.reference, ...sealed(held.reference))
  t.is(release.code, 0, release.err)
  await settle(world())
  // What this one is paid from is lost too.
  await creditCreator(world(), eve.user.id, 20_000_000n)
  const beyond = (await withdraw(world(), eve)).reference
  await settle(world())
  const tip = await createFiatIntent(world(), { amount: 10, creatorId: dan.user.id })
  payFiatIntent(world(), tip.intentId)
  await settleIntentNow(world(), tip.intentId)
  const all: string[] = await db('withdrawals').whereNot({ reference: idle }).pluck('reference')
  const balances = (one: World) => Promise.all([ada, ben, cyn].map((who) => readBalance(one, who)))
  const truth = await balances(world())

  const restoredEnv = { ...env, DATABASE_URL: backup.url }
  const app = await startApp(t, restoredEnv)
  fiat.fiatpay.webhooks.setUrl(`${app.url}/webhooks/fiatpay`)
  const { services: own, url } = app
  const request = await createClient(url)
  const restored: World = Object.assign(Object.create(world()), {
    env: restoredEnv,
    url,
    db: openOwnersPool(t, restoredEnv),
    services: own,
    request,
  })
  // It knows what it is without a command, also when a clock looks first.
  await markSeen(restored.db)
  await app.services.switches.read()
  t.true(app.services.switches.isRestored())
  t.is((await readEpoch(restored.db)).state, 'copied')
  const before = fiat.fiatpay.log().transfers.length
  await restored
    .db('withdrawals')
    .where({ send_state: 'not_sent' })
    .update({ due_at: new Date(0) })
  t.is(await sendDuePayouts(restored), 0)
  const { rows } = await restored.db.raw(`select ${runsLockedSql('payouts')} as runs`)
  t.deepEqual(rows, [{ runs: false }])
  t.is(fiat.fiatpay.log().transfers.length, before)

  // Nothing is given back either, because it may be paid.
  const had = await balances(restored)
  t.is(await cancel(restored, cyn, unsent), '503 service_unavailable')
  t.is(await cancel(restored, cyn, held.reference), '503 service_unavailable')
  t.is(await cancel(restored, fay, idle), '503 service_unavailable')
  const voided = await runOpsScript(restored, 'payouts', 'void', idle, ...sealed(idle))
  const identity = ['--user', cyn.user.id, '--refuse', ...sealed(cyn.user.id)]
  const refused = await runOpsScript(restored, 'verify-identity', ...identity)
  for (const { code, err } of [voided, refused]) {
    t.is(code, 1, err)
    t.regex(err, /the database was restored.*restore-check/)
  }
  t.deepEqual(await balances(restored), had)

  const check = (...args: string[]) =>
    advanceWhile(world().sandbox, runOpsScript(restored, 'restore-check', ...args))
  const first = await check('--json')
  t.is(first.code, 4, first.err)
  const found = JSON.parse(first.out) as {
    state: string
    transfers: { providerReference: string; kind: string }[]
    collections: { kind: string; theirs: string }[]
  }
  t.is(found.state, 'copied')
  const known: string[] = await restored.db('withdrawals').pluck('reference')
  const lost = all.filter((reference) => !known.includes(reference))
  t.true(later.every((reference) => lost.includes(reference)))
  t.deepEqual(
    found.transfers.map(({ providerReference }) => providerReference.toUpperCase()).sort(),
    [...lost, held.reference].sort(),
  )
  const charge = referenceOf(tip.intentId)
  t.deepEqual(
    found.collections.map(({ kind, theirs }) => [kind, theirs.endsWith(`for ${charge}`)]),
    [['not_ours', true]],
  )
  // The charge names its creator, and no word of an operator can say another one.
  const asked = (...args: string[]) => runOpsScript(restored, 'collections', 'adopt', charge, ...args)
  t.regex((await asked()).out, new RegExp(`for user ${dan.user.id}`))
  t.regex((await asked('--creator', ada.user.id)).err, new RegExp(`names creator ${dan.user.id}`))
  t.is((await check('--apply', '--confirm=0', ...reason)).code, 3, 'not while differences are left')

  // One plan, which a person reads; what nobody of us sent is not in it, even if it went to a creator's account.
  const planned = async () => {
    const { code, out, err } = await check('--adopt-all', '--json')
    t.is(code, 4, err + out)
    return JSON.parse(out) as { steps: string[]; left: string[]; hash: string }
  }
  const adoptAll = (hash: string) => check('--adopt-all', '--apply', `--confirm=${hash}`, ...reason)
  const early = await planned()
  const one = fiat.fiatpay.transfers.find(later[0]?.toLowerCase() ?? '')
  if (one === undefined) throw new Error('no transfer to copy')
  fiat.fiatpay.transfers.write({ ...one, id: one.id + 1_000_000, reference: 'foreign-transfer-1' })
  t.is((await adoptAll(early.hash)).code, 3, 'the plan has changed')
  t.is((await restored.db('withdrawals').whereIn('reference', lost)).length, 0)
  const plan = await planned()
  t.regex(plan.left.join(), /^foreign-transfer-1: not_ours/)
  for (const part of [...lost, held.reference, charge])
    t.is(plan.steps.filter((line) => line.includes(part)).length, 1, part)
  t.regex(plan.steps.join('\n'), new RegExp(`${charge} .*for user ${dan.user.id}`))
  const settling = startWorkerLoops(own, ['settlement'])
  const adopted = await adoptAll(plan.hash)
  await settling.stop()
  t.is(adopted.code, 0, adopted.err + adopted.out)
  t.regex(adopted.out, new RegExp(`${plan.steps.length} adopted, 0 refused, 1 need a person`))
  t.deepEqual(await readBalance(restored, dan), await readBalance(world(), dan))
  for (const reference of [...lost, held.reference]) {
    const again = await runOpsScript(restored, 'payouts', 'adopt', reference, ...sealed(reference))
    t.is(again.code, 1, 'once')
  }
  t.is((await check('--apply', '--confirm=1', ...reason)).code, 3, 'no number accepts what nobody has read')
  const { hash } = JSON.parse((await check('--json')).out) as { hash: string }
  t.is((await check('--apply', '--confirm=0', ...reason)).code, 3)
  t.is(await cancel(restored, cyn, held.reference), '409 withdrawal_sent', 'its creator cannot keep both')
  const [debt] = await listDebts(restored.db, 9, eve.user.id)
  t.like(debt, { id: `adopted:${beyond}`, ref: beyond, amountMicro: 9_000_000n, coveredMicro: 0n })
  const last = await check('--apply', `--confirm=${hash}`, ...reason)
  t.is(last.code, 0, last.err + last.out)
  t.is((await readEpoch(restored.db)).state, 'known')

  // What is older than the restore is asked for at the provider, and what it has not may still be cancelled.
  t.is(await cancel(restored, cyn, unsent), '409 withdrawal_sent')
  fiat.fiatpay.faults.setFault({ id: idle.toLowerCase(), lookups: '500' })
  t.is(await cancel(restored, fay, idle), '503 service_unavailable')
  fiat.fiatpay.faults.setFault({ id: idle.toLowerCase() })
  const { restored_at } = await restored.db('database_epoch').first()
  await restored.db('database_epoch').update({ restored_at: new Date(restored_at.getTime() + 3_600_000) })
  t.is(await cancel(restored, fay, idle), '503 service_unavailable', 'it need not be listed yet')
  const hasty = await runOpsScript(restored, 'payouts', 'void', idle, ...sealed(idle))
  t.is(hasty.code, 1, hasty.err)
  t.regex(hasty.err, /need not show it yet/)
  await restored.db('database_epoch').update({ restored_at })
  await until('the settle time is over', async () => (await cancel(restored, fay, idle)) === '200 failed')
  t.is((await readBalance(restored, fay)).availableUSDC, 10)
  await makeWithdrawalsDue(restored)
  // A payout limit does not hold back what is paid.
  const limits = { ...own.config.payouts.limits, creatorHourlyNgn: 1 }
  const config = { ...own.config, payouts: { ...own.config.payouts, limits } }
  await sendDuePayouts(Object.assign(Object.create(restored), { services: { ...own, config } }))
  t.is((await readWithdrawalRow(restored, unsent)).send_state, 'sent')
  await settle(restored)
  t.is(fiat.fiatpay.sendings.all()[unsent.toLowerCase()], 1, 'it was looked up, not sent again')
  for (const reference of all) {
    t.is(countExecutions(restored, reference), 1, reference)
    t.is((await readWithdrawalRow(restored, reference)).status, 'completed', reference)
  }
  t.deepEqual(await balances(restored), truth)
  await creditCreator(restored, eve.user.id, 20_000_000n)
  t.deepEqual(await listDebts(restored.db, 9, eve.user.id), [], 'what arrives pays the debt')
  t.deepEqual(await readBalance(restored, eve), await readBalance(world(), eve))
  t.deepEqual(await listBrokenInvariants(restored.db), [])
  // What is asked for from now on is sent at once.
  const next = await withdraw(restored, ada)
  await settle(restored)
  t.is(countExecutions(restored, next.reference), 1)

  // A point-in-time recovery: the same server, another timeline. test/treasury/restored-chain.test.ts has the promoted standby.
  const move = (seenAt: Date) => restored.db('database_epoch').update({ timeline: 0, seen_at: seenAt })
  const state = async () => (await readEpoch(restored.db)).state
  await move(new Date(Date.now() - 3_600_000))
  await createMovedCheck({ ...as('clock', own), refunds: composeRefundReader(own.config) })()
  t.is(await state(), 'moved', 'an hour is no failover: a person looks')
  const declared = await check('--since', new Date(Date.now() - 1000).toISOString(), '--apply', ...reason)
  t.is(declared.code, 0, declared.err)
  t.is(await state(), 'copied', 'what the server does not show, a person declares')
})
