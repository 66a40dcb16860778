import test, { type ExecutionContext } from 'ava'
import { listOpenCases } from '../../src/operators/open-cases.js'
import { readOldestDue } from '../../src/operators/work-rows.js'
import { pausePayouts, resumePayouts } from '../../src/outgoing/guards.js'
import { recordSending } from '../../src/outgoing/send.js'
import { takeDueRows } from '../../src/platform/database/due-rows.js'
import { type DuePayout, payoutQueue } from '../../src/withdrawals/work-queue.js'
import { workers } from '../../workers/registry.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import type { Person } from '../helpers/make/creators.js'
import {
  countExecutions,
  createWithdrawal,
  creatorWithBalance,
  listHistory,
  makeWithdrawalsDue,
  readBalance,
  readWithdrawalRow,
  reconcileAll,
  sendDuePayouts,
  sendingKind,
} from '../helpers/make/withdrawals.js'
import { watchPostgresSteps } from '../helpers/proxies/watch-steps.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { as } from '../helpers/servers/roles.js'
import { startWorkerProcess } from '../helpers/servers/service-process.js'
import { setRows, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { listBrokenInvariants } from '../ledger/support.js'

/** The net of a withdrawal of NGN 10,000 is 9,900: three fit into an hour, of one creator two. */
const world = useWorld(test, {
  fiat: true,
  env: {
    PAYOUT_LIMITS_NGN: 'hour:30000,day:100000,creator-hour:20000',
    PAYOUT_SECONDS: '15,3,0.1',
  },
})
test.beforeEach('nothing waits, and the windows are empty', async () => {
  await world()
    .db('withdrawals')
    .where('sends', '>', 0)
    .update({ sent_at: new Date(0) })
})
test.afterEach.always('the ledger is consistent, and nobody is paid twice', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
  const { transfers } = world().fiat.fiatpay.log()
  const references = transfers.map(({ reference }) => reference)
  t.is(new Set(references).size, references.length)
})

const create = async (amountNGN: number, person?: Person): Promise<string> =>
  (await createWithdrawal(world(), person ?? (await creatorWithBalance(world(), 100)), { amountNGN }))
    .reference
const isSent = (reference: string): boolean => countExecutions(world(), reference) === 1
const sentOf = (references: readonly string[]) => references.map(isSent)
async function sendAll(): Promise<void> {
  await makeWithdrawalsDue(world())
  await sendDuePayouts(world())
}
/** A younger one that was looked at before an older one of its batch lets that go first, and looks again in a second. */
const sendUntilSent = (references: readonly string[]) =>
  until('what waited is sent', async () => {
    await sendAll()
    return references.every(isSent)
  })
/** Lets this much time pass for what was sent. */
const passHours = (hours: number) =>
  world().db.raw(`update withdrawals set sent_at = sent_at - ? * interval '1 hour' where sent_at > 'epoch'`, [
    hours,
  ])
const breakerOf = async (reference: string) =>
  (await world().db('withdrawals').where({ reference }).first()).breaker as string | null
const alarms = () => countAlerts(world(), 'payout_breaker')
const ops = (...args: string[]) => runOpsScript(world(), 'payouts', ...args)
const because = ['--apply', '--reason', 'ticket 7', '--as', 'ngozi']

test.serial('a burst beyond the hourly limit waits, and is sent later by itself, oldest first', async (t) => {
  const before = await alarms()
  const people = await Promise.all(Array.from({ length: 5 }, () => creatorWithBalance(world(), 100)))
  const all: string[] = []
  for (const person of people) all.push(await create(10_000, person))
  await sendDuePayouts(world())
  t.deepEqual(sentOf(all).toSorted(), [false, false, true, true, true])
  t.is(await alarms(), before + 2)
  const waiting = all.filter((reference) => !isSent(reference))
  const [held = ''] = waiting
  const holder = people[all.indexOf(held)] as Person
  const [shown] = await listHistory(world(), holder)
  t.like(shown, { status: 'pending', heldFor: 'breaker', requiresVerification: false })
  t.regex(
    (await ops('list', '--state', 'breaker')).out,
    new RegExp(`${held} .* waits for the limit platform_hour`),
  )
  await sendAll()
  t.is(await alarms(), before + 2, 'an alarm for each withdrawal that begins to wait')
  t.deepEqual(sentOf(waiting), [false, false])
  const { due_at: dueAt } = await readWithdrawalRow(world(), held)
  t.true(dueAt !== null && dueAt.getTime() <= Date.now() + 301_000)
  await passHours(1.01)
  await sendUntilSent(all)
  t.is((await listHistory(world(), holder))[0]?.heldFor, null)
})

test.serial('several workers at once leave the limit whole', async (t) => {
  const all = await Promise.all(Array.from({ length: 8 }, () => create(10_000)))
  const { services } = world()
  await Promise.all(Array.from({ length: 4 }, () => workers.payouts.createBatch(as('payouts', services))()))
  await sendDuePayouts(world())
  t.is(sentOf(all).filter(Boolean).length, 3)
  for (const hours of [1.01, 1.01, 1.01]) {
    await passHours(hours)
    // What another one goes before looks again in a second.
    await until('what fits is sent', async () => {
      await sendAll()
      return (
        (await world().db('withdrawals').whereNotNull('breaker').where({ status: 'pending' })).length <= 2 ||
        sentOf(all).filter(Boolean).length >= 6
      )
    })
  }
  await until('all are sent', async () => {
    await passHours(1.01)
    await sendAll()
    return sentOf(all).every(Boolean)
  })
})

test.serial('a smaller one passes one that does not fit, for one window; then nothing passes', async (t) => {
  const first = await create(20_000)
  await sendDuePayouts(world())
  const large = await create(18_000)
  await sendDuePayouts(world())
  t.deepEqual(sentOf([first, large]), [true, false])
  const small = await create(2000)
  await sendDuePayouts(world())
  t.true(isSent(small))
  await world()
    .db('withdrawals')
    .where({ reference: large })
    .update({ breaker_since: new Date(Date.now() - 3_660_000) })
  const late = await create(2000)
  await sendDuePayouts(world())
  t.false(isSent(late))
  t.is(await breakerOf(late), 'platform_hour')
  await passHours(1.01)
  await setRows(world(), 'withdrawals', { reference: late }, { due_at: new Date(0) })
  await workers.payouts.createBatch(as('payouts', world().services))()
  t.deepEqual(sentOf([large, late]), [false, false], 'the older one goes first, also when it is taken later')
  await sendUntilSent([large, late])
})

test.serial('one above the limit by itself waits for an operator, and keeps nobody waiting', async (t) => {
  const ada = await creatorWithBalance(world(), 100)
  const huge = await create(40_000, await creatorWithBalance(world(), 100))
  await sendDuePayouts(world())
  t.is(await breakerOf(huge), 'creator_hour')
  await world()
    .db('withdrawals')
    .where({ reference: huge })
    .update({ breaker: 'platform_hour', breaker_since: new Date(Date.now() - 7_200_000) })
  const small = await create(10_000, ada)
  await sendDuePayouts(world())
  t.deepEqual(sentOf([huge, small]), [false, true])
  t.regex((await ops('replay', huge)).err, /it waits for the limit platform_hour: use release/)
  t.regex((await ops('release', huge)).out, /would send it now, beyond the limit platform_hour/)
  const run = await ops('release', huge, `--confirm=${huge}`, ...because)
  t.is(run.code, 0, run.err)
  await sendDuePayouts(world())
  t.true(isSent(huge))
  // What was released counts: nothing more goes out in this hour.
  const next = await create(10_000)
  await sendDuePayouts(world())
  t.false(isSent(next))
  await passHours(1.01)
  await sendAll()
})

test.serial("a creator's own limit keeps no other waiting, and what waits may be cancelled", async (t) => {
  const ada = await creatorWithBalance(world(), 100)
  const own = [await create(10_000, ada), await create(10_000, ada), await create(5000, ada)]
  for (let round = 0; round < own.length; round++) await sendDuePayouts(world())
  const waiting = own.filter((reference) => !isSent(reference))
  t.is(waiting.length, 1)
  t.is(await breakerOf(waiting[0] ?? ''), 'creator_hour')
  const other = await create(4000)
  await sendDuePayouts(world())
  t.true(isSent(other))
  const cancelled = await world().request('POST', `/payouts/${waiting[0]}/cancel`, {
    session: ada.session,
    body: {},
  })
  t.like(cancelled.body, { status: 'failed', heldFor: null, failureReason: 'Cancelled by the creator' })
  t.is((await readBalance(world(), ada)).heldUSDC > 0, true)
})

test.serial('what failed does not count, and the day has its own limit', async (t) => {
  const refused = await createWithdrawal(world(), await creatorWithBalance(world(), 100), {
    amountNGN: 19_000,
    accountNumber: '0000000001',
  })
  await sendDuePayouts(world())
  t.is((await readWithdrawalRow(world(), refused.reference)).status, 'failed')
  const all: string[] = []
  for (let n = 0; n < 11; n++) {
    const reference = await create(10_000)
    await sendDuePayouts(world())
    if (await breakerOf(reference)) {
      await passHours(1.01)
      await sendAll()
    }
    all.push(reference)
  }
  t.is(sentOf(all).filter(Boolean).length, 10)
  t.is(await breakerOf(all.at(-1) ?? ''), 'platform_day')
  await passHours(24)
  await sendAll()
  t.true(isSent(all.at(-1) ?? ''))
})

test.serial('while payouts are paused nothing is sent, and withdrawals are accepted and wait', async (t) => {
  const ada = await creatorWithBalance(world(), 100)
  const first = await create(5000, ada)
  const [taken] = await takeDueRows<DuePayout>(world().db, payoutQueue(world().services.config.payouts))
  t.is((await ops('pause', '--apply')).code, 2, 'a reason is required')
  t.regex((await ops('pause')).out, /^payouts run; .*; would pause payouts; add --apply to do it$/m)
  t.is((await ops('pause', ...because)).code, 0)
  t.is((await ops('pause', ...because)).code, 1, 'it is paused already')
  // A worker that has taken it before does not send it.
  t.is(
    await recordSending(as('payouts', world().services), sendingKind(world()), taken as DuePayout),
    undefined,
  )
  const released = { ...(taken as DuePayout), released: true }
  t.is(
    await recordSending(as('payouts', world().services), sendingKind(world()), released),
    undefined,
    'nor one that was released from the limits',
  )
  const accepted = await createWithdrawal(world(), ada, { amountNGN: 5000 })
  t.like(accepted, { status: 'pending', heldFor: 'breaker', requiresVerification: false })
  await sendAll()
  t.deepEqual(sentOf([first, accepted.reference]), [false, false])
  t.deepEqual(
    (await listHistory(world(), ada)).map(({ status, heldFor }) => [status, heldFor]),
    [
      ['pending', 'breaker'],
      ['pending', 'breaker'],
    ],
  )
  t.regex((await ops('release', first)).err, /payouts are paused/)
  // The operators see it, and no worker is blamed.
  const cases = await listOpenCases(world().db)
  t.is(cases.find(({ what }) => what === 'payouts are paused')?.count, 1)
  t.is(cases.find(({ what }) => what.includes('payout limit or the pause'))?.count, 2)
  t.is((await readOldestDue(world().db)).find(({ kind }) => kind === 'payouts')?.seconds, null)
  await world().services.switches.read()
  t.true(world().services.switches.isStopped('payouts'))
  const session = { session: ada.session, body: {} }
  t.is((await world().request('POST', `/payouts/${first}/cancel`, session)).status, 200)

  t.is((await ops('resume', ...because)).code, 0)
  t.is((await ops('resume', ...because)).code, 1)
  await sendAll()
  t.deepEqual(sentOf([first, accepted.reference]), [false, true])
  const audit = await world().db('audit_log').where({ subject: 'switch:payouts' }).orderBy('id')
  t.deepEqual(
    audit.map(({ actor, action, details }) => [actor, action, details.reason]),
    [
      ['ngozi', 'payouts pause', 'ticket 7'],
      ['ngozi', 'payouts resume', 'ticket 7'],
    ],
  )
})

test.serial('who pauses payouts waits for a sending under way, and none begins afterwards', async (t) => {
  const { services, db } = world()
  const reference = await create(5000)
  const [taken] = await takeDueRows<DuePayout>(db, payoutQueue(services.config.payouts))
  const change = { by: 'custody_short', reason: 'the chain shows less than is owed' }
  let paused = false
  let pausing: Promise<unknown> = Promise.resolve()
  const sender = as('payouts', services)
  await sender.transact(async (uow) => {
    const begun = await recordSending(
      { ...sender, transact: (work) => work(uow) },
      sendingKind(world()),
      taken as DuePayout,
    )
    t.is(begun?.sends, 1)
    pausing = sender
      .transact((other) => pausePayouts(other, change))
      .then((done) => {
        paused = done
      })
    await until('the pause waits', async () => {
      const { rows } = await db.raw(`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%update switches%'`)
      return rows.length === 1
    })
    t.false(paused)
  })
  await pausing
  t.true(paused)
  t.is((await readWithdrawalRow(world(), reference)).send_state, 'sending')
  t.true(
    await as('operators', services).transact((uow) => resumePayouts(uow, { by: 'ngozi', reason: 'done' })),
  )
  await reconcileAll(world())
})

test.serial('a worker that is killed around the decision pays nobody twice and loses nobody', async (t) => {
  t.timeout(240_000)
  const kills = [
    ['payouts.sending', 'before'],
    ['commit', 'before'],
    ['commit', 'after'],
    ['payouts.wait', 'before'],
    ['payouts.wait', 'after'],
  ] as const
  const all: string[] = []
  for (const kill of kills) all.push(await createAndKill(t, kill))
  await until('all are sent', async () => {
    await passHours(1.01)
    await sendAll()
    await reconcileAll(world())
    return sentOf(all).every(Boolean)
  })
})

/** Creates a withdrawal and kills the worker that takes it at this step. */
async function createAndKill(
  t: ExecutionContext,
  [label, phase]: readonly [label: string, phase: 'before' | 'after'],
): Promise<string> {
  const { env } = world()
  let decided = false
  let killed = false
  let kill = async (): Promise<void> => undefined
  const { url } = await watchPostgresSteps(t, env['DATABASE_URL'] ?? '', async (step, when) => {
    if (step === 'payouts.sending') decided = true
    const isHere = step === label && when === phase && (label !== 'commit' || decided)
    if (!isHere || killed) return true
    killed = true
    await kill()
    return false
  })
  const worker = await startWorkerProcess(t, 'payouts', { ...env, DATABASE_URL: url })
  kill = async () => {
    worker.signal('SIGKILL')
    await worker.ended
  }
  // No room: it must wait.
  if (label === 'payouts.wait')
    await world().db('withdrawals').where('sends', '>', 0).update({ sent_at: new Date() })
  const reference = await create(10_000)
  t.is(await worker.ended, 'SIGKILL')
  return reference
}
