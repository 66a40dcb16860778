import test, { type ExecutionContext } from 'ava'
import { compareTransfers, type Difference } from '../../../src/withdrawals/reconcile/compare-statement.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { countObserved } from '../../helpers/count-observed.js'
import type { Person } from '../../helpers/make/creators.js'
import { paidTip, requestRefund } from '../../helpers/make/fiat/refunds.js'
import {
  countExecutions,
  createWithdrawal,
  creatorWithBalance,
  listHistory,
  quickPayouts,
  readBalance,
  readWithdrawalRow,
  reconcileAll,
  requestWithdrawal,
  sendDuePayouts,
} from '../../helpers/make/withdrawals.js'
import { runOpsScript, type ScriptRun, spawnOpsScript } from '../../helpers/run-ops-script.js'
import { as } from '../../helpers/servers/roles.js'
import { startWorkerLoops } from '../../helpers/servers/worker-loops.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'
import { listBrokenInvariants } from '../../ledger/support.js'

const world = useWorld(test, { fiat: true, env: quickPayouts })
test.beforeEach('the provider has no faults', () => {
  world().fiat.fiatpay.faults.reset()
})
test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

const payouts = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'payouts', ...args)
const confirmed = (reference: string) => [
  '--apply',
  `--confirm=${reference}`,
  '--reason',
  'test',
  '--as',
  'ngozi',
]
const outgoing = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'outgoing', ...args)
const confirmedNow = (reference: string) => [...confirmed(reference), '--now']
const listAudit = (reference: string) =>
  world()
    .db('audit_log')
    .where({ subject: `payout:${reference}` })
    .orderBy('id')
const countSendings = (reference: string) => world().fiat.fiatpay.sendings.all()[reference.toLowerCase()] ?? 0

/** A withdrawal with one request that the provider did not execute, and answered without saying so. */
async function createUnanswered(): Promise<{ ada: Person; reference: string }> {
  const ada = await creatorWithBalance(world(), 20)
  world().fiat.fiatpay.faults.setMode({ transfers: '500' })
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
  await sendDuePayouts(world())
  world().fiat.fiatpay.faults.reset()
  return { ada, reference }
}

/** Moves the last request so many seconds into the past; a negative number moves it into the future. */
async function moveLastRequest(reference: string, seconds: number): Promise<void> {
  const at = new Date(Date.now() - seconds * 1000)
  await world().db('withdrawals').where({ reference }).update({ sent_at: at })
}

/** An unanswered withdrawal after the last automatic request: only a person can decide. */
async function createInReview(): Promise<{ ada: Person; reference: string }> {
  const unanswered = await createUnanswered()
  const { reference } = unanswered
  await world().db('withdrawals').where({ reference }).update({ sends: 3 })
  await moveLastRequest(reference, 3600)
  await reconcileAll(world())
  return unanswered
}

const alarms = (kind: string) => countAlerts(world(), kind)

test.serial('list and show include open reviews, and never a whole account number', async (t) => {
  const before = await Promise.all(['payout_unanswered', 'payout_unknown'].map(alarms))
  const { reference } = await createInReview()
  const after = await Promise.all(['payout_unanswered', 'payout_unknown'].map(alarms))
  t.deepEqual(
    after,
    before.map((count) => count + 1),
    'an operator is told',
  )
  const list = await payouts('list', '--state', 'manual_review')
  t.is(list.code, 0)
  t.regex(list.out, new RegExp(`${reference} .* pending/manual_review +NGN 31,680\\.00 .*unknown`))
  const show = await payouts('show', reference)
  t.regex(show.out, /OPEN REVIEWS {10}unknown/)
  t.notRegex(show.out, /0123456789/)
  const json = JSON.parse((await payouts('show', reference, '--json')).out)
  t.like(json, { ok: true, payout: { reference, sendState: 'manual_review', accountNumber: '******6789' } })
  t.is((await payouts('list', '--older-than', '60')).out.includes(reference), false)
})

test.serial('exit codes: 2 wrong arguments, 3 no confirmation, 5 the provider unavailable', async (t) => {
  const { reference } = await createUnanswered()
  for (const args of [
    [],
    ['sned'],
    ['show'],
    ['show', 'FIATPAY-1'],
    ['list', '--state', 'x'],
    ['list', '--limit', '-1'],
    ['list', reference],
    ['compare', 'extra'],
  ])
    t.is((await payouts(...args)).code, 2, args.join(' '))
  t.regex((await payouts('relaese', reference)).err, /^unknown command relaese\. Did you mean release\?$/m)
  t.regex((await payouts()).err, /^give one of list, show, .*^npm run ops -- payouts list/ms)
  t.is((await payouts('--help')).code, 0)
  const unconfirmed = await payouts('replay', reference, '--apply', '--reason', 'x')
  t.is(unconfirmed.code, 3)
  t.regex(unconfirmed.err, new RegExp(`--confirm=${reference}`))
  t.is((await payouts('replay', reference, '--apply', `--confirm=${reference}`)).code, 2)
  const unavailable = { env: { ...world().env, FIATPAY_URL: 'http://127.0.0.1:1' } }
  t.is((await spawnOpsScript(unavailable, 'payouts', 'replay', reference)).code, 5)
  t.is((await payouts('show', `FIATPAY-${'0'.repeat(32)}`)).code, 1)
})

test.serial(
  'outgoing lists, shows and acts on every kind; payouts and refunds are names for it',
  async (t) => {
    const { ada, reference } = await createUnanswered()
    await moveLastRequest(reference, -3600)
    const tipId = await paidTip(world(), ada)
    await requestRefund(world(), ada, tipId, 4)
    const { id } = await world().db('refunds').where({ intent_id: tipId }).first('id')
    const read = async (run: Promise<ScriptRun>) => JSON.parse((await run).out)
    const listed = await read(outgoing('list', '--json'))
    const alone = {
      withdrawal: (await read(payouts('list', '--json'))).payouts,
      refund: (await read(runOpsScript(world(), 'refunds', '--json'))).refunds,
    }
    for (const [kind, rows] of Object.entries(alone))
      for (const { ageSeconds: _, ...row } of rows)
        t.like(
          listed.outgoing.find((one: { id: string }) => one.id === row.id),
          { kind, ...row },
        )
    t.regex((await outgoing('list', '--state', 'not_sent')).out, new RegExp(id))
    t.regex((await outgoing('show', id)).out, /not_sent/)
    t.is((await outgoing('show', reference)).out, (await payouts('show', reference)).out)
    t.is((await outgoing('act', 'replay', reference)).err, (await payouts('replay', reference)).err)
    t.regex((await outgoing('act', 'retry', id)).err, /it was not sent yet/)
    for (const args of [
      [],
      ['act'],
      ['act', 'retry'],
      ['act', 'retry', reference],
      ['act', 'void', id],
      ['show'],
    ])
      t.is((await outgoing(...args)).code, 2, args.join(' '))
    t.is((await outgoing('act', 'give-back', id, '--apply', '--reason', 'x')).code, 3)
    const given = await outgoing('act', 'give-back', id, ...confirmed(id), '--json')
    t.like(JSON.parse(given.out), { applied: true, id })
    t.is((await world().db('refunds').where({ id }).first('status')).status, 'failed')
    t.is((await outgoing('act', 'refund', '1')).code, 1, 'no such payment waits in suspense')
  },
)

test.serial('replay refuses what may have been sent, and without --apply it only shows a plan', async (t) => {
  const { reference } = await createUnanswered()
  await moveLastRequest(reference, -3600)
  const early = await payouts('replay', reference, ...confirmed(reference))
  t.is(early.code, 1)
  t.regex(early.err, /the provider may still show it later/)
  await moveLastRequest(reference, 3600)
  const withoutDeduplication = { env: { ...world().env, FIATPAY_DEDUPLICATES: '0' } }
  const refused = await spawnOpsScript(
    withoutDeduplication,
    'payouts',
    'replay',
    reference,
    ...confirmed(reference),
  )
  t.regex(refused.err, /the money may have been sent/)
  const machine = await spawnOpsScript(
    withoutDeduplication,
    'payouts',
    'replay',
    reference,
    ...confirmed(reference),
    '--json',
  )
  t.is(machine.code, 1)
  t.is(machine.err, refused.err)
  t.like(JSON.parse(machine.out), {
    ok: false,
    error: refused.err.trimEnd(),
    exitCode: 1,
    applied: false,
    results: [{ reference, done: false }],
  })
  t.regex((await payouts('replay', reference)).out, /would send it once more/)
  t.like(await readWithdrawalRow(world(), reference), { send_state: 'unknown', sends: 1 })
  t.deepEqual(await listAudit(reference), [])
})

test.serial('concurrent replays from several terminals send once', async (t) => {
  const { ada, reference } = await createInReview()
  const workers = [
    startWorkerLoops(world().services, ['payouts']),
    startWorkerLoops(world().services, ['payouts']),
  ]
  t.teardown(() => Promise.all(workers.map((worker) => worker.stop())))
  const runs = await Promise.all(
    [1, 2, 3].map(() => spawnOpsScript(world(), 'payouts', 'replay', reference, ...confirmed(reference))),
  )
  const done = runs.filter(({ code }) => code === 0).length
  t.is(done, 1, JSON.stringify(runs))
  await until('it is sent', async () => (await readWithdrawalRow(world(), reference)).status === 'submitted')
  t.is(countSendings(reference), 2)
  t.is(countExecutions(world(), reference), 1)
  const [entry, ...others] = await listAudit(reference)
  t.like(entry, { actor: 'ngozi', action: 'payouts replay' })
  t.is(entry.details.reason, 'test')
  t.deepEqual(others, [])
  await Promise.all(workers.map((worker) => worker.stop()))
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
})

test.serial('what waits because of our own fault is sent once, however often replayed', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  world().fiat.fiatpay.faults.setMode({ transfers: 'no-float' })
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
  const before = await alarms('payout_held_up')
  await sendDuePayouts(world())
  t.true((await alarms('payout_held_up')) > before)
  world().fiat.fiatpay.faults.reset()
  t.like(await readWithdrawalRow(world(), reference), { send_state: 'not_sent', sends: 0 })
  const runs = await Promise.all([1, 2].map(() => payouts('replay', reference, ...confirmed(reference))))
  t.deepEqual(
    runs.map(({ code }) => code),
    [0, 0],
  )
  const { withdrawalSendSeconds } = world().services.metrics
  const seen = await countObserved(withdrawalSendSeconds)
  await Promise.all([sendDuePayouts(world()), sendDuePayouts(world())])
  t.is(countExecutions(world(), reference), 1)
  t.is(await countObserved(withdrawalSendSeconds), seen + 1)
  t.is((await payouts('replay', reference, ...confirmed(reference))).code, 1)
})

test.serial('replay of several is confirmed by their number, and reports each refusal', async (t) => {
  const [one, two] = [await createInReview(), await createUnanswered()]
  await moveLastRequest(two.reference, -3600)
  const run = await payouts('replay', one.reference, two.reference, ...confirmed('2'), '--json')
  t.is(run.code, 4)
  t.deepEqual(
    JSON.parse(run.out).results.map(({ done }: { done: boolean }) => done),
    [true, false],
  )
})

test.serial('void gives the money back only for a withdrawal that was never executed', async (t) => {
  const { ada, reference } = await createInReview()
  t.is((await payouts('void', reference)).code, 0)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
  const runs = await Promise.all([1, 2].map(() => payouts('void', reference, ...confirmed(reference))))
  t.deepEqual(runs.map(({ code }) => code).sort(), [0, 1])
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.like((await listHistory(world(), ada))[0], { status: 'failed' })
  t.is((await listAudit(reference)).length, 1)

  const bob = await createUnanswered()
  t.is((await payouts('void', bob.reference, ...confirmed(bob.reference))).code, 1)
  const sent = await creatorWithBalance(world(), 20)
  world().fiat.fiatpay.faults.setMode({ transfers: 'accept-then-500' })
  const { reference: accepted } = await createWithdrawal(world(), sent, { amountUSDC: 20 })
  await sendDuePayouts(world())
  await world().db('withdrawals').where({ reference: accepted }).update({ send_state: 'manual_review' })
  const refused = await payouts('void', accepted, ...confirmed(accepted))
  t.regex(refused.err, /the provider has it/)
  t.deepEqual(await readBalance(world(), sent), { availableUSDC: 0, heldUSDC: 20 })
})

/** A completed withdrawal whose money came back, after the reconciler has seen it. */
async function createReturned(t: ExecutionContext): Promise<{ ada: Person; reference: string }> {
  const ada = await creatorWithBalance(world(), 20)
  world().fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
  await sendDuePayouts(world())
  const transfer = () => {
    const found = world().fiat.fiatpay.transfers.find(reference)
    if (found === undefined) throw new Error('the provider has no such transfer')
    return found
  }
  world().fiat.fiatpay.setOutcome(transfer(), 'success')
  await reconcileAll(world())
  t.is((await payouts('recredit', reference, ...confirmed(reference))).code, 1)
  world().fiat.fiatpay.setOutcome(transfer(), 'reversed')
  await until(
    'the webhook has come',
    async () => (await readWithdrawalRow(world(), reference)).due_at !== null,
  )
  const before = await alarms('payout_reversed')
  await reconcileAll(world())
  t.is(await alarms('payout_reversed'), before + 1)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 0 })
  t.regex((await payouts('list')).out, reversedLine(reference))
  return { ada, reference }
}

const reversedLine = (reference: string) => new RegExp(`${reference} .* completed/sent .* reversed`)

/** The provider still shows the reversal, but a person has settled it: no review opens, and it cannot be credited again. */
async function assertStaysSettled(t: ExecutionContext, reference: string): Promise<void> {
  t.is((await payouts('ask', reference)).code, 0)
  await reconcileAll(world())
  t.notRegex((await payouts('list')).out, reversedLine(reference))
  t.is((await payouts('recredit', reference, ...confirmedNow(reference))).code, 1)
  const { differences } = JSON.parse((await payouts('compare', '--json')).out)
  const own = { providerReference: reference.toLowerCase() }
  t.deepEqual(
    differences.filter((one: typeof own) => one.providerReference === own.providerReference),
    [],
  )
}

test.serial('recredit credits money that came back after completion, once', async (t) => {
  const { ada, reference } = await createReturned(t)
  const runs = await Promise.all([1, 2].map(() => payouts('recredit', reference, ...confirmedNow(reference))))
  t.deepEqual(runs.map(({ code }) => code).sort(), [0, 1])
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.is((await listHistory(world(), ada))[0]?.status, 'completed')
  await assertStaysSettled(t, reference)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.is((await listAudit(reference)).length, 1)
})

test.serial('a reversal that an operator has closed is never credited as well', async (t) => {
  const { ada, reference } = await createReturned(t)
  t.is((await payouts('close', reference, ...confirmed(reference))).code, 0)
  await assertStaysSettled(t, reference)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 0 })
})

test.serial('compare finds a transfer that only the provider has, once, and ends with 4', async (t) => {
  const same = await payouts('compare')
  const before = JSON.parse((await payouts('compare', '--json')).out).differences.length
  t.is(same.code, before === 0 ? 0 : 4)
  const ada = await creatorWithBalance(world(), 20)
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
  await sendDuePayouts(world())
  const transfer = world().fiat.fiatpay.transfers.find(reference)
  if (transfer !== undefined)
    world().fiat.fiatpay.transfers.write({
      ...transfer,
      id: transfer.id + 1_000_000,
      reference: 'unknown-transfer',
    })
  const alarms = () => countAlerts(world(), 'payout_difference')
  const alarmed = await alarms()
  for (const _ of ['today', 'tomorrow']) {
    await compareTransfers(as('clock', world().services))
    t.is(await alarms(), alarmed + 1)
  }
  const run = await payouts('compare', '--json')
  t.is(run.code, 4)
  const { differences } = JSON.parse(run.out)
  t.like(
    differences.find((one: { kind: string }) => one.kind === 'not_ours'),
    { providerReference: 'unknown-transfer' },
  )
  await payouts('compare')
  const stored = await world()
    .db('reconciliation_differences')
    .where({ provider_reference: 'unknown-transfer' })
  t.is(stored.length, 1)
})

test.serial('ask reports what the provider shows, and makes the reconciler follow it', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  world().fiat.fiatpay.faults.setMode({ transfers: 'accept-then-500' })
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
  await sendDuePayouts(world())
  const asking = payouts('ask', reference)
  await until('the reconciler has found it', async () => {
    await reconcileAll(world())
    return (await readWithdrawalRow(world(), reference)).status !== 'pending'
  })
  const { code, out } = await asking
  t.is(code, 0)
  t.regex(out, /the provider shows it (started|paid)/)
  t.is((await requestWithdrawal(world(), ada, { amountUSDC: 1 })).status, 400)
})

test.serial('compare finds a payout that came back after the days of the clock, with --days', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
  await sendDuePayouts(world())
  const { fiatpay } = world().fiat
  const { transfers } = fiatpay
  const transfer = transfers.find(reference)
  if (transfer === undefined) throw new Error('the provider has no such transfer')
  fiatpay.setOutcome(transfer, 'success')
  await reconcileAll(world())
  const executedAt = new Date(Date.now() - 3 * 86_400_000).toISOString()
  transfers.write({ ...transfer, executedAt, status: 'reversed' })
  const found = async (...options: string[]): Promise<unknown> => {
    const { differences } = JSON.parse((await payouts('compare', '--json', ...options)).out)
    return differences.find((one: Difference) => one.providerReference === reference.toLowerCase())
  }
  t.is(await found(), undefined)
  t.like(await found('--days', '4'), { kind: 'status', ours: 'completed' })
  t.is((await payouts('compare', '--days', '0')).code, 2)
})
