import test, { type ExecutionContext } from 'ava'
import { Queue } from 'bullmq'
import { queuePrefix } from '../../../src/platform/queue/wake-ups.js'
import { createWorkerClient } from '../../../src/platform/redis/clients.js'
import { startWorker } from '../../../src/platform/worker/worker.js'
import { pricePaid } from '../../../src/withdrawals/price-withdrawal.js'
import { workers } from '../../../workers/registry.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import {
  countExecutions,
  createExecuted,
  createWithdrawal,
  creatorWithBalance,
  followOutcome,
  listHistory,
  moveReviews,
  readBalance,
  readWithdrawalRow,
  reconcileAll,
  sendDuePayouts,
} from '../../helpers/make/withdrawals.js'
import { runOpsScript, type ScriptRun, spawnOpsScript } from '../../helpers/run-ops-script.js'
import { as } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'
import { listBrokenInvariants } from '../../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { PAYOUT_SECONDS: '15,0.05,900' } })
test.beforeEach('the provider has no faults', () => {
  world().fiat.fiatpay.faults.reset()
})
test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

const payouts = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'payouts', ...args)
const confirmed = (reference: string) => ['--apply', `--confirm=${reference}`, '--reason', 'ticket 9']

test('what was really paid is priced at the rate of the withdrawal, rounded in the creator’s favour', (t) => {
  const asked = { debitMicro: 20_000_000n, grossKobo: 3_200_000n, feeKobo: 32_000n, netKobo: 3_168_000n }
  t.deepEqual(pricePaid(asked, asked.netKobo), asked)
  t.deepEqual(pricePaid(asked, 3_200_000n), { ...asked, feeKobo: 0n, netKobo: 3_200_000n })
  const half = pricePaid(asked, 1_584_001n)
  t.deepEqual(half, { debitMicro: 10_000_006n, grossKobo: 1_600_001n, feeKobo: 16_000n, netKobo: 1_584_001n })
})

/** A withdrawal of 20 USDC (NGN 31,680.00) for which the provider shows another amount. */
async function createMismatch(amountKobo: number, outcome: 'success' | 'failed' = 'success') {
  const { ada, reference } = await createExecuted(world(), 20)
  const { transfers } = world().fiat.fiatpay
  const transfer = transfers.find(reference)
  if (transfer === undefined) throw new Error('the provider has no such transfer')
  transfers.write({ ...transfer, amountKobo })
  await followOutcome(world(), reference, outcome)
  return { ada, reference }
}

test.serial('resolve ends a mismatch: what was paid is posted, the rest of the hold is free', async (t) => {
  const before = await countAlerts(world(), 'payout_mismatch')
  const { ada, reference } = await createMismatch(1_584_000)
  t.is(await countAlerts(world(), 'payout_mismatch'), before + 1)
  const show = await payouts('show', reference)
  t.regex(show.out, /review opened: mismatch: the provider showed paid, NGN 15,840\.00/)
  t.notRegex(show.out, /kobo|1584000/)
  t.is((await payouts('resolve', reference)).code, 2)
  t.is((await payouts('resolve', reference, '--paid', '12x')).code, 2)
  const tooMuch = await payouts('resolve', reference, '--paid', '32,000.01')
  t.is(tooMuch.code, 1)
  t.regex(tooMuch.err, /NGN 32,000\.01 is more than the NGN 32,000\.00 .* Recover NGN 0\.01 first/)
  t.regex((await payouts('resolve', reference, '--paid', '0')).err, /needs that nothing was paid/)

  const plan = await payouts('resolve', reference, '--paid', '15840')
  t.regex(
    plan.out,
    /complete it with NGN 15,840\.00 paid and a fee of NGN 160\.00: .* 10 USDC, and 10 USDC are free/,
  )
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
  const paid = ['--paid', '15840', ...confirmed(reference)]
  const runs = await Promise.all([1, 2].map(() => payouts('resolve', reference, ...paid)))
  t.deepEqual(runs.map(({ code }) => code).sort(), [0, 1], JSON.stringify(runs))
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 10, heldUSDC: 0 })
  const [payout] = await listHistory(world(), ada)
  t.like(payout, { status: 'completed', amountNGN: 15_840, systemFeeNGN: 160, amountUSDC: 10 })

  await followOutcome(world(), reference, 'success')
  t.notRegex((await payouts('list')).out, new RegExp(reference), 'the mismatch stays ended')
  await followOutcome(world(), reference, 'reversed')
  const again = await payouts('recredit', reference, ...confirmed(reference), '--now')
  t.is(again.code, 0, again.err)
  t.regex(again.out, /credit the creator with 10 USDC again/)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
})

test.serial('resolve with --paid 0 fails a mismatch of which nothing was paid', async (t) => {
  const { ada, reference } = await createMismatch(1_584_000, 'failed')
  t.regex((await payouts('resolve', reference, '--paid', '10')).err, /nothing was paid\. Use --paid 0/)
  const run = await payouts('resolve', reference, '--paid', '0', ...confirmed(reference))
  t.is(run.code, 0, run.err)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.like((await listHistory(world(), ada))[0], { status: 'failed' })
  await followOutcome(world(), reference, 'failed')
  t.notRegex((await payouts('list')).out, new RegExp(reference))
})

test.serial('resolve is refused without a mismatch', async (t) => {
  const { reference } = await createExecuted(world(), 20)
  t.regex((await payouts('resolve', reference, '--paid', '10')).err, /no review mismatch is open/)
})

test.serial('close of a reversal says what the creator loses, and reopen undoes it', async (t) => {
  const { ada, reference } = await createExecuted(world(), 20)
  await followOutcome(world(), reference, 'success')
  await followOutcome(world(), reference, 'reversed')
  await moveReviews(world(), reference, 25)
  const unavailable = { env: { ...world().env, FIATPAY_URL: 'http://127.0.0.1:1' } }
  t.is((await spawnOpsScript(unavailable, 'payouts', 'close', reference)).code, 5, 'the provider is asked')
  const plan = await payouts('close', reference)
  t.regex(
    plan.out,
    /shows it returned \(NGN 31,680\.00\)\. THE CREATOR LOSES 20 USDC: neither the NGN 31,680\.00/,
  )
  t.is((await payouts('reopen', reference)).code, 1)
  t.is((await payouts('close', reference, ...confirmed(reference))).code, 0)
  t.is((await payouts('recredit', reference, ...confirmed(reference), '--now')).code, 1)
  const [entry] = await world()
    .db('audit_log')
    .where({ subject: `payout:${reference}` })
  t.is(entry.details.before.provider, 'returned')
  t.regex(entry.details.done, /the provider shows it returned .* THE CREATOR LOSES/)

  t.is((await payouts('reopen', reference, ...confirmed(reference))).code, 0)
  // It keeps the time at which the reversal was first seen.
  const run = await payouts('recredit', reference, ...confirmed(reference))
  t.is(run.code, 0, run.err)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.is((await payouts('reopen', reference, ...confirmed(reference))).code, 1)
})

test.serial('a failed job goes with its row, retry wakes it, and replay makes a new job', async (t) => {
  const services = as('payouts', world().services)
  const { config } = services
  const connection = createWorkerClient(config.redis)
  const queue = new Queue('payouts', {
    connection: connection.client,
    prefix: queuePrefix(config.redis.namespace),
    skipVersionCheck: true,
  })
  const { createBatch, jobFailure, makeRowDue, concurrency } = workers.payouts
  const worker = startWorker({
    kind: 'payouts',
    batch: createBatch(services),
    concurrency,
    redis: config.redis,
    jobFailure: (row) => jobFailure?.(services, row) ?? Promise.resolve(undefined),
    makeRowDue: async (row) => makeRowDue?.(services, row),
    onError: (error) => t.log(error),
  })
  t.teardown(async () => {
    await worker.stop()
    await queue.close()
    connection.disconnect()
  })
  const failedIds = async (reference: string): Promise<string[]> =>
    (await queue.getFailed()).flatMap(({ id = '' }) => (id.includes(reference) ? [id] : [])).sort()
  /** A withdrawal that waits a long time after an error of ours, with its failed job. */
  const createWaiting = async (): Promise<string> => {
    world().fiat.fiatpay.faults.setMode({ transfers: 'no-float' })
    const ada = await creatorWithBalance(world(), 20)
    const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
    await until('its job has failed', async () => (await failedIds(reference)).length === 1)
    await postpone(reference)
    return reference
  }
  const postpone = (reference: string) =>
    world()
      .db('withdrawals')
      .where({ reference, status: 'pending' })
      .update({ due_at: new Date(Date.now() + 3_600_000) })
  const isSubmitted = async (reference: string): Promise<boolean> =>
    (await readWithdrawalRow(world(), reference)).status === 'submitted'

  const retried = await createWaiting()
  world().fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  await (await queue.getJob(`payout-${retried}-1`))?.retry('failed')
  await until('the retried job has sent it', () => isSubmitted(retried))
  await until('its job is gone', async () => (await failedIds(retried)).length === 0)

  const replayed = await createWaiting()
  for (const number of [2, 3]) {
    const run = await payouts('replay', replayed, ...confirmed(replayed))
    t.is(run.code, 0, run.err)
    await until('a new job has failed', async () => (await failedIds(replayed)).length === number)
    await postpone(replayed)
  }
  world().fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  await setRows(world(), 'withdrawals', { reference: replayed }, { due_at: new Date(0) })
  await sendDuePayouts(world())
  await until('it is sent', () => isSubmitted(replayed))
  await until('its jobs are gone', async () => (await failedIds(replayed)).length === 0)
  t.is(countExecutions(world(), replayed), 1)
  await reconcileAll(world())
})

test.beforeEach('the test has time for scripts', (t) => t.timeout(90_000))

const recredit = (reference: string, ...more: string[]) =>
  payouts('recredit', reference, ...confirmed(reference), ...more)
const close = (reference: string) => payouts('close', reference, ...confirmed(reference))

const countAlarms = (kind: string) => countAlerts(world(), kind)

/** The withdrawal's differences from the provider's list. */
async function compare(reference: string): Promise<{ kind: string; ours: string; theirs: string }[]> {
  const { differences } = JSON.parse((await payouts('compare', '--json')).out)
  return differences.filter(
    ({ providerReference }: { providerReference: string }) => providerReference === reference.toLowerCase(),
  )
}

/** All reviews of a withdrawal, oldest first, an open one with a `+`. */
async function listReviews(reference: string): Promise<string[]> {
  const { db } = world()
  const { id } = await readWithdrawalRow(world(), reference)
  const rows = await db('review_items').where({ withdrawal_id: id }).orderBy('id')
  return rows.map(({ kind, resolved_at }) => `${resolved_at === null ? '+' : ''}${kind}`)
}

/** A completed withdrawal of 20 USDC that the provider has reversed, or says has failed. */
async function createUnpaid(outcome: 'reversed' | 'failed' = 'reversed') {
  const { ada, reference } = await createExecuted(world(), 20)
  await followOutcome(world(), reference, 'success')
  await followOutcome(world(), reference, outcome)
  return { ada, reference }
}

async function assertDone(t: ExecutionContext, running: Promise<ScriptRun>): Promise<void> {
  const run = await running
  t.is(run.code, 0, run.err)
}

test.serial('success after a re-credit is a review, an alarm and a difference', async (t) => {
  const { ada, reference } = await createUnpaid()
  await moveReviews(world(), reference, 25)
  await assertDone(t, recredit(reference))
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.deepEqual(await compare(reference), [])

  const alarms = await countAlarms('payout_paid_after_recredit')
  // No webhook: the provider is polled.
  world().fiat.fiatpay.webhooks.setUrl('http://127.0.0.1:1/')
  const transfer = world().fiat.fiatpay.transfers.find(reference)
  if (transfer !== undefined) world().fiat.fiatpay.setOutcome(transfer, 'success')
  t.not((await readWithdrawalRow(world(), reference)).due_at, null)
  await reconcileAll(world())
  await reconcileAll(world())
  world().fiat.fiatpay.webhooks.setUrl(`${world().url}/webhooks/fiatpay`)
  t.is((await countAlarms('payout_paid_after_recredit')) - alarms, 1)
  t.deepEqual(await listReviews(reference), ['reversed', '+paid_after_recredit'])
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 }, 'nothing moves by itself')
  t.like((await compare(reference))[0], { kind: 'status', ours: 'completed, then credited again' })

  // The provider's list reaches back two days only.
  const listed = world().fiat.fiatpay.transfers.find(reference)
  if (listed === undefined) return t.fail('the provider has no such transfer')
  world().fiat.fiatpay.transfers.write({ ...listed, executedAt: '2020-01-01T00:00:00.000Z' })
  t.like(await compare(reference), [{ kind: 'status', theirs: 'paid' }])
  t.is((await recredit(reference, '--now')).code, 1)
  const closing = await payouts('close', reference)
  t.regex(
    closing.out,
    /shows it paid \(NGN 31,680\.00\)\. The creator keeps both the NGN 31,680\.00 and the 20 USDC/,
  )
  await assertDone(t, close(reference))
  t.deepEqual(await compare(reference), [])
  await reconcileAll(world())
  t.deepEqual(await listReviews(reference), ['reversed', 'paid_after_recredit'], 'handled once')
  t.is(countExecutions(world(), reference), 1)
})

test.serial('recredit waits 24 hours after the first sight of the reversal, unless --now', async (t) => {
  const { ada, reference } = await createUnpaid()
  await moveReviews(world(), reference, 23)
  const early = await recredit(reference)
  t.is(early.code, 1)
  t.regex(early.err, /reversed was first seen at \S+Z\. Wait until \S+Z, or add --now beside --reason/)
  t.is(
    (await payouts('recredit', reference, '--apply', `--confirm=${reference}`, '--now')).code,
    2,
    'no reason',
  )
  t.is((await payouts('close', reference, '--now')).code, 2)
  await assertDone(t, recredit(reference, '--now'))
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  const [entry] = await world()
    .db('audit_log')
    .where({ subject: `payout:${reference}` })
  t.like(entry.details, { now: true, before: { provider: 'returned' } })
})

test.serial('failed after completed is a review of its own kind, and may be credited again', async (t) => {
  const alarms = await countAlarms('payout_failed_after_completed')
  const { ada, reference } = await createUnpaid('failed')
  t.deepEqual(await listReviews(reference), ['+failed_after_completed'])
  t.is((await countAlarms('payout_failed_after_completed')) - alarms, 1)
  await assertDone(t, recredit(reference, '--now'))
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.is((await listHistory(world(), ada))[0]?.status, 'completed')
  t.deepEqual(await listReviews(reference), ['failed_after_completed'])
})

test.serial('success, reversal, success and so on: each turn of the provider is handled once', async (t) => {
  const { ada, reference } = await createUnpaid()
  const seen = async (outcome: 'success' | 'reversed' | 'failed') => {
    await followOutcome(world(), reference, outcome)
    await reconcileAll(world())
    return (await listReviews(reference)).join(' ')
  }
  t.is(await seen('success'), 'reversed', 'paid again: nobody has lost anything')
  t.is((await recredit(reference, '--now')).code, 1)
  t.is(await seen('reversed'), 'reversed +reversed')
  await assertDone(t, close(reference))
  t.is(await seen('reversed'), 'reversed reversed', 'what a person has closed stays closed')
  t.is(await seen('success'), 'reversed reversed')
  t.is(await seen('reversed'), 'reversed reversed +reversed', 'until it happens again')
  await assertDone(t, recredit(reference, '--now'))
  t.is(await seen('success'), 'reversed reversed reversed +paid_after_recredit')
  t.is(await seen('reversed'), 'reversed reversed reversed +paid_after_recredit', 'a person closes it')
  await assertDone(t, close(reference))
  t.is(await seen('success'), 'reversed reversed reversed paid_after_recredit +paid_after_recredit')
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 }, 'credited again once')
})

test.serial('after a re-credit the provider is polled with growing pauses for 90 days', async (t) => {
  const { reference } = await createUnpaid()
  await assertDone(t, recredit(reference, '--now'))
  const { db } = world()
  const pauseAfter = async (looks: number): Promise<number> => {
    await db('withdrawals').where({ reference }).update({ looks })
    await reconcileAll(world())
    const { due_at } = await readWithdrawalRow(world(), reference)
    return due_at === null ? Number.POSITIVE_INFINITY : (due_at.getTime() - Date.now()) / 1000
  }
  const hour = await pauseAfter(16)
  t.true(hour > 3000 && hour < 3600, `${hour}`)
  const longest = await pauseAfter(1000)
  t.true(longest > 52_000 && longest <= 86_400, `${longest}`)
  await db('withdrawals')
    .where({ reference })
    .update({ recredited_at: db.raw(`clock_timestamp() - interval '91 days'`) })
  t.is(await pauseAfter(3), Number.POSITIVE_INFINITY)
})

test.serial('what waits to be sent again of a frozen account is followed, or voided', async (t) => {
  const { db, fiat } = world()
  const createAgain = async (transfers: 'accept-then-500' | '500') => {
    const ada = await creatorWithBalance(world(), 20)
    fiat.fiatpay.faults.setMode({ transfers })
    const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
    await sendDuePayouts(world())
    await setRows(world(), 'users', { id: ada.user.id }, { frozen_at: new Date(), frozen_reason: 'test' })
    await setRows(world(), 'withdrawals', { reference }, { send_state: 'resend', sent_at: new Date(0) })
    await sendDuePayouts(world())
    t.like(await readWithdrawalRow(world(), reference), { status: 'pending', send_state: 'resend' })
    return { ada, reference }
  }
  const late = await createAgain('accept-then-500')
  t.regex((await payouts('void', late.reference)).err, /the provider has it .*payouts ask/)
  await followOutcome(world(), late.reference, 'success')
  t.is((await readWithdrawalRow(world(), late.reference)).status, 'completed')

  const lost = await createAgain('500')
  t.is((await payouts('void', lost.reference, ...confirmed(lost.reference))).code, 0)
  await db('users').where({ id: lost.ada.user.id }).update({ frozen_at: null, frozen_reason: null })
  t.deepEqual(await readBalance(world(), lost.ada), { availableUSDC: 20, heldUSDC: 0 })
})

/** A withdrawal of 20 USDC that the provider has started and does not show any more, so many hours after the request. */
async function createMissed(hours: number) {
  const { ada, reference } = await createExecuted(world(), 20)
  await reconcileAll(world())
  const { transfers } = world().fiat.fiatpay
  const transfer = transfers.find(reference)
  if (transfer === undefined) throw new Error('the provider has no such transfer')
  transfers.write({ ...transfer, visibleAt: '2999-01-01T00:00:00.000Z' })
  await reconcileAll(world())
  await setRows(world(), 'withdrawals', { reference }, { sent_at: new Date(Date.now() - hours * 3_600_000) })
  return { ada, reference, transfer, show: () => transfers.write(transfer) }
}

test.serial(
  'what was accepted and is shown no more is a review and an alarm, until it is shown',
  async (t) => {
    const { reference, show } = await createMissed(0)
    const alarms = await countAlarms('payout_unknown')
    await reconcileAll(world())
    t.deepEqual(await listReviews(reference), [], 'the provider need not show it yet')
    await setRows(world(), 'withdrawals', { reference }, { sent_at: new Date(Date.now() - 901_000) })
    await reconcileAll(world())
    await reconcileAll(world())
    t.deepEqual(await listReviews(reference), ['+unknown'])
    t.is((await countAlarms('payout_unknown')) - alarms, 1, 'one alarm for what is known')
    t.is((await readWithdrawalRow(world(), reference)).status, 'processing')
    t.is((await runOpsScript(world(), 'outgoing', 'list')).code, 4)
    for (const action of ['replay', 'void', 'close', 'recredit'])
      t.is((await payouts(action, reference)).code, 1, action)
    show()
    t.regex((await payouts('resolve', reference, '--paid', '31680')).err, /shows it started .*payouts ask/)
    await reconcileAll(world())
    t.deepEqual(await listReviews(reference), ['unknown'])
    t.regex((await payouts('resolve', reference, '--paid', '31680')).err, /no review mismatch is open, nor/)
    await followOutcome(world(), reference, 'success')
  },
)

test.serial('what was accepted and is shown no more is resolved as paid', async (t) => {
  const { ada, reference, show } = await createMissed(1)
  await reconcileAll(world())
  const paid = ['--paid', '31680', ...confirmed(reference)]
  await assertDone(t, payouts('resolve', reference, ...paid))
  t.like((await listHistory(world(), ada))[0], { status: 'completed', amountNGN: 31_680, amountUSDC: 20 })
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 0 })
  t.deepEqual(await listReviews(reference), ['unknown'])
  show()
  await followOutcome(world(), reference, 'success')
  t.deepEqual(await listReviews(reference), ['unknown'])
})

test.serial('resolved with --paid 0 after a day it is watched: paid after all is a review', async (t) => {
  const { ada, reference, transfer, show } = await createMissed(23)
  await reconcileAll(world())
  const resolve = () => payouts('resolve', reference, '--paid', '0', ...confirmed(reference))
  t.regex((await resolve()).err, /may still pay it: wait until 24 hours after the last request/)
  await setRows(world(), 'withdrawals', { reference }, { sent_at: new Date(Date.now() - 86_401_000) })
  const setRestored = (restored_at: Date | null) => world().db('database_epoch').update({ restored_at })
  await setRestored(new Date())
  const restored = await resolve()
  await setRestored(null)
  t.regex(restored.err, /it is older than a restore, and the provider has it, or need not show it yet/)
  await assertDone(t, resolve())
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.like((await listHistory(world(), ada))[0], { status: 'failed' })
  await reconcileAll(world())
  t.not((await readWithdrawalRow(world(), reference)).due_at, null)
  const alarms = await countAlarms('payout_paid_after_failed')
  // No webhook: the provider is polled.
  world().fiat.fiatpay.webhooks.setUrl('http://127.0.0.1:1/')
  show()
  world().fiat.fiatpay.setOutcome(transfer, 'success')
  await reconcileAll(world())
  world().fiat.fiatpay.webhooks.setUrl(`${world().url}/webhooks/fiatpay`)
  t.deepEqual(await listReviews(reference), ['unknown', '+paid_after_failed'])
  t.is((await countAlarms('payout_paid_after_failed')) - alarms, 1)
  t.is((await readWithdrawalRow(world(), reference)).due_at, null, 'shown, it is watched no more')
  await assertDone(t, close(reference))
})

test.serial(
  'what was adopted and is shown no more at the first look is followed until it is a review',
  async (t) => {
    const { db } = world()
    const ada = await creatorWithBalance(world(), 20)
    const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
    await setRows(world(), 'withdrawals', { reference }, { adopted_at: new Date() })
    const setRestored = (restored_at: Date | null) => db('database_epoch').update({ restored_at })
    await setRestored(new Date())
    await sendDuePayouts(world())
    t.like(await readWithdrawalRow(world(), reference), { status: 'submitted', provider_id: null })
    await reconcileAll(world())
    t.deepEqual(await listReviews(reference), [], 'the provider need not show it yet')
    await setRestored(new Date(Date.now() - 3_600_000))
    await setRows(world(), 'withdrawals', { reference }, { sent_at: new Date(Date.now() - 86_401_000) })
    await reconcileAll(world())
    t.deepEqual(await listReviews(reference), ['+unknown'])
    await assertDone(t, payouts('resolve', reference, '--paid', '0', ...confirmed(reference)))
    await setRestored(null)
    t.is(countExecutions(world(), reference), 0)
    t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  },
)

test.serial('what was adopted after a restore and is shown no more is resolved with --paid 0', async (t) => {
  const { ada, reference } = await createMissed(25)
  await setRows(world(), 'withdrawals', { reference }, { adopted_at: new Date() })
  const restored_at = new Date(Date.now() - 3_600_000)
  await world().db('database_epoch').update({ restored_at })
  await reconcileAll(world())
  t.deepEqual(await listReviews(reference), ['+unknown'])
  await assertDone(t, payouts('resolve', reference, '--paid', '0', ...confirmed(reference)))
  await world().db('database_epoch').update({ restored_at: null })
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
})
