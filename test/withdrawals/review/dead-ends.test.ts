import test from 'ava'
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

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0', PAYOUT_SECONDS: '15,0.05,900' } })
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
