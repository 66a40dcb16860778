import test from 'ava'
import { composeRefundReader, composeRefunds } from '../../../src/compose.js'
import { compareCollections } from '../../../src/fiat/disputes/compare-collections.js'
import { beginSuspenseRefund } from '../../../src/fiat/refunds/refund-suspense.js'
import {
  findOpenItems,
  giveBackToSuspense,
  type OpenItem,
  resolveSuspense,
  takeFromSuspense,
} from '../../../src/fiat/suspense/suspense.js'
import { measureState } from '../../../src/operators/measure-state.js'
import type { UnitOfWork } from '../../../src/platform/database/transact.js'
import { disputeViews, useDisputeWorld } from '../../helpers/make/fiat/dispute-world.js'
import {
  disputeTip,
  endDispute,
  lookNow,
  newestPayment,
  type PaidTip,
  paidTip,
  payableCreator,
  returnsBatch,
  reverseTip,
} from '../../helpers/make/fiat/disputes.js'
import { listSuspense, payFiatIntent, settleIntentNow } from '../../helpers/make/fiat/fiat-tips.js'
import { endRefundAtProvider, refundsAtProvider, workOnRefunds } from '../../helpers/make/fiat/refunds.js'
import { bank, listHistory, requestWithdrawal } from '../../helpers/make/withdrawals.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { as } from '../../helpers/servers/roles.js'
import { until } from '../../helpers/until.js'

const world = useDisputeWorld(test)
const creator = () => payableCreator(world())
const { balance, rowOf, receivable, mailsTo, alarms, tipOf, sums } = disputeViews(world)

const compare = () => {
  const { services } = world()
  return compareCollections({ ...as('clock', services), refunds: composeRefundReader(services.config) })
}

/** Somebody gives NGN 10,000 of a payment back at the provider's own pages. */
async function refundElsewhere({ intentId, payment }: PaidTip): Promise<void> {
  const refunds = composeRefunds(world().services.config)
  await refunds.request({ transaction: payment, kobo: 1_000_000n, note: '' })
  endRefundAtProvider(world(), intentId, 'processed')
}

test.serial('a dispute about money in suspense takes it from there until it is won after all', async (t) => {
  const ada = await creator()
  const { intentId, payment } = await paidTip(world(), ada, { kobo: 500_000 })
  const dispute = disputeTip(world(), intentId)
  await lookNow(world())
  t.deepEqual(await balance(ada), { availableUSDC: 0, heldUSDC: 0 })
  for (const act of ['--assign', '--refund']) {
    const refused = await runOpsScript(
      world(),
      'suspense',
      act,
      payment,
      '--reason',
      'x',
      '--apply',
      `--confirm=${payment}`,
    )
    t.is(refused.code, 1)
    t.regex(refused.err, /is disputed/)
  }
  await endDispute(world(), dispute, 'lost')
  t.deepEqual(await listSuspense(world(), intentId), [['underpaid', 500_000n]])
  t.like(await world().db('suspense_items').where({ provider_transaction: payment }).first(), {
    state: 'resolved',
    resolution: 'returned',
    resolved_by: 'dispute',
  })
  await endDispute(world(), dispute, 'won')
  t.like(await world().db('suspense_items').where({ provider_transaction: payment }).first(), {
    state: 'waiting',
  })
  t.is((await runOpsScript(world(), 'suspense', '--assign', payment, '--reason', 'x', '--apply')).code, 0)
  t.is((await balance(ada)).availableUSDC, 3.125)

  // Assigned: now it is the creator's, and so is the loss.
  await endDispute(world(), dispute, 'lost')
  t.deepEqual(await balance(ada), { availableUSDC: 0, heldUSDC: 0 })
  t.like(
    await world()
      .db('payment_returns')
      .where({ id: `dispute:${dispute.id}#2` })
      .first(),
    {
      suspense_kobo: 0n,
      credited_kobo: 500_000n,
      debit_micro: 3_125_000n,
    },
  )
})

test.serial('what a won dispute brings back waits for a refund of the rest, and goes back too', async (t) => {
  const ada = await creator()
  const { intentId, payment } = await paidTip(world(), ada, { kobo: 500_000 })
  const dispute = disputeTip(world(), intentId, 200_000)
  await lookNow(world())
  await endDispute(world(), dispute, 'lost')
  const item = () => world().db('suspense_items').where({ provider_transaction: payment }).first()
  const ordered = ['--refund', payment, '--reason', 'x', '--apply', `--confirm=${payment}`]
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  await runOpsScript(world(), 'suspense', ...ordered)
  await workOnRefunds(world())
  await endDispute(world(), dispute, 'won')
  t.like(await item(), { state: 'refunding', kobo: 300_000n })
  endRefundAtProvider(world(), intentId, 'processed')
  await workOnRefunds(world())
  t.like(await item(), { state: 'resolved', kobo: 300_000n })
  await lookNow(world())
  t.like(await item(), { state: 'waiting', kobo: 200_000n })
  t.deepEqual(await compare(), [])
  world().fiat.fiatpay.faults.reset()
  t.is((await runOpsScript(world(), 'suspense', ...ordered)).code, 0)
  t.like(await item(), { state: 'resolved', kobo: 200_000n })
  t.deepEqual(
    refundsAtProvider(world(), intentId).map(({ amountKobo }) => amountKobo),
    [300_000, 200_000],
  )
  t.deepEqual(await compare(), [])
})

test.serial('what a won dispute brings back is assigned again, and all of it is lost again', async (t) => {
  const ada = await creator()
  const { intentId, payment } = await paidTip(world(), ada, { kobo: 500_000 })
  const half = disputeTip(world(), intentId, 250_000)
  const assign = () => runOpsScript(world(), 'suspense', '--assign', payment, '--reason', 'x', '--apply')
  await endDispute(world(), half, 'lost')
  t.is((await assign()).code, 0)
  t.is((await balance(ada)).availableUSDC, 1.5625)
  await endDispute(world(), half, 'won')
  t.is((await assign()).code, 0)
  t.is((await balance(ada)).availableUSDC, 3.125)
  const story = await runOpsScript(world(), 'trace', intentId)
  t.is(story.out.match(/the creator's available \+1\.5625 USDC/g)?.length, 2)
  await endDispute(world(), disputeTip(world(), intentId), 'lost')
  t.deepEqual(await balance(ada), { availableUSDC: 0, heldUSDC: 0 })
})

test.serial(
  'what was read of an item before a dispute took a part is neither refunded nor resolved',
  async (t) => {
    const { payment } = await paidTip(world(), await creator(), { kobo: 500_000 })
    const [item] = await findOpenItems(world().db, payment)
    if (item === undefined) throw new Error('nothing waits')
    const { transact } = as('operators', world().services)
    const order = { by: 'ngozi', note: 'x' }
    const afterPart = (take: (uow: UnitOfWork, item: OpenItem) => Promise<unknown>) =>
      transact(async (uow) => {
        await takeFromSuspense(uow.trx, payment, 125_000n, order)
        t.is(await take(uow, item), undefined)
        throw new Error('the end')
      }).catch((error: Error) => t.is(error.message, 'the end'))
    await afterPart((uow, item) => beginSuspenseRefund(uow, item, order, undefined, 0))
    await afterPart((uow, item) => resolveSuspense(uow, item, { as: 'returned', ...order }))
    await t.throwsAsync(
      transact(async (uow) => {
        await beginSuspenseRefund(uow, item, order, undefined, 0)
        await giveBackToSuspense(uow.trx, payment, 125_000n)
      }),
      { message: /is being refunded/ },
      'what a won dispute brings back waits for its end',
    )
  },
)

test.serial('of a surplus in suspense and a part that was credited, the surplus goes first', async (t) => {
  const ada = await creator()
  const { intentId } = await paidTip(world(), ada, { kobo: 2_000_000 })
  const dispute = disputeTip(world(), intentId, 500_000)
  await lookNow(world())
  t.deepEqual(await balance(ada), { availableUSDC: 9.375, heldUSDC: 0.125 })
  await endDispute(world(), dispute, 'lost')
  t.deepEqual(await balance(ada), { availableUSDC: 9.375, heldUSDC: 0 })
  t.like(
    await world()
      .db('payment_returns')
      .where({ id: `dispute:${dispute.id}` })
      .first(),
    {
      suspense_kobo: 480_000n,
      credited_kobo: 20_000n,
    },
  )
})

test.serial('a payment that is reversed without a dispute is debited once', async (t) => {
  const ada = await creator()
  const { intentId, payment } = await paidTip(world(), ada)
  const before = await alarms('payment_returned')
  reverseTip(world(), intentId)
  await lookNow(world())
  await lookNow(world())
  t.deepEqual(await balance(ada), { availableUSDC: 0, heldUSDC: 0 })
  t.like(
    await world()
      .db('payment_returns')
      .where({ id: `reversal:${payment}` })
      .first(),
    { debit_micro: 9_500_000n },
  )
  t.is(await alarms('payment_returned'), before + 1)
  t.true((await mailsTo(ada.email)).includes('payment-returned'))
})

test.serial('the reversal of a lost dispute is no second loss, nor a dispute after a refund', async (t) => {
  const ada = await creator()
  const lost = await paidTip(world(), ada)
  await paidTip(world(), ada)
  await endDispute(world(), disputeTip(world(), lost.intentId), 'lost')
  await lookNow(world())
  t.is((await balance(ada)).availableUSDC, 9.5)

  const refunded = await paidTip(world(), ada)
  await refundElsewhere(refunded)
  await lookNow(world())
  t.is((await balance(ada)).availableUSDC, 12.75, 'a refund on the pages of the provider is debited')
  t.is((await tipOf(ada, refunded.intentId)).refundedAmount, 6.58)
  await endDispute(world(), disputeTip(world(), refunded.intentId), 'lost')
  t.is((await balance(ada)).availableUSDC, 9.5, 'a dispute takes what the refund has left')
})

test.serial('a dispute about no charge of ours is a case for the operator, and moves nothing', async (t) => {
  const before = await sums()
  const { fiatpay } = world().fiat
  const ada = await creator()
  const { intentId } = await paidTip(world(), ada)
  const charge = fiatpay.charges.find(intentId)
  if (charge === undefined) throw new Error('no charge')
  const stranger = fiatpay.charges.write({
    ...charge,
    id: fiatpay.ids.next(),
    reference: 'somebody-elses-charge',
  })
  const [payment] = stranger.payments
  if (payment === undefined) throw new Error('no payment')
  const dispute = fiatpay.openDispute(stranger, { ...payment, id: fiatpay.ids.next() }, 1000)
  await lookNow(world())
  t.like(await rowOf(dispute.id), { intent_id: null, state: 'open' })
  const listed = await runOpsScript(world(), 'disputes')
  t.is(listed.code, 4)
  t.regex(listed.out, /NO CHARGE OF OURS: somebody-elses-charge/)
  await endDispute(world(), dispute, 'lost')
  t.is((await sums()).owed, before.owed)
  t.like(await rowOf(dispute.id), { state: 'lost', settled: true })
})

test.serial('a webhook about a paid charge makes the worker look, and says nothing by itself', async (t) => {
  const ada = await creator()
  const { intentId } = await paidTip(world(), ada)
  await lookNow(world())
  await world()
    .db('dispute_polls')
    .update({ due_at: new Date(Date.now() + 3_600_000), asked_at: new Date(0) })
  world().fiat.fiatpay.faults.setMode({ webhooks: 'ok' })
  const { id } = disputeTip(world(), intentId)
  await until('the look is due', async () => {
    const look = await world().db('dispute_polls').first()
    return look.due_at <= new Date()
  })
  t.is(await rowOf(id), undefined)
  await until('it is recorded', async () => {
    await returnsBatch(world())()
    return (await rowOf(id)) !== undefined
  })
  t.is((await balance(ada)).heldUSDC, 9.5)
})

test.serial('a dispute that cannot be read hides no other, nor a refund, and operators see it', async (t) => {
  const { db, fiat } = world()
  const ada = await creator()
  const [unread, read, refunded] = [
    await paidTip(world(), ada),
    await paidTip(world(), ada),
    await paidTip(world(), ada),
  ]
  const { id, ...dispute } = disputeTip(world(), unread.intentId)
  fiat.fiatpay.disputes.write({ ...dispute, id, shownKobo: -1 })
  const other = disputeTip(world(), read.intentId)
  await refundElsewhere(refunded)
  await db('dispute_polls').update({ listed_at: new Date(Date.now() - 600_000) })
  await lookNow(world())
  t.is(await rowOf(id), undefined)
  t.like(await rowOf(other.id), { state: 'open' })
  t.is((await tipOf(ada, refunded.intentId)).refundedAmount, 6.58)
  const kindOf = async () => (await measureState(db)).unfinished.find(({ kind }) => kind === 'returns')
  t.true(((await kindOf())?.seconds ?? 0) >= 600)
  const work = await runOpsScript(world(), 'work', 'list', '--kind', 'settlement')
  t.regex(work.out, /a row of \/dispute cannot be read, \d+: .*refund_amount/)
  fiat.fiatpay.disputes.write({ ...dispute, id })
  await lookNow(world())
  t.like(await rowOf(id), { state: 'open' })
  t.true(((await kindOf())?.seconds ?? 600) < 600)
})

test.serial('workers and withdrawals at the same time hold and pay nothing twice', async (t) => {
  for (let round = 0; round < 5; round++) {
    const ada = await creator()
    const { intentId } = await paidTip(world(), ada)
    const dispute = disputeTip(world(), intentId)
    await world()
      .db('dispute_polls')
      .update({ due_at: new Date(0) })
    const [asked] = await Promise.all([
      requestWithdrawal<{ reference?: string }>(world(), ada, { amountUSDC: 9.5, ...bank }),
      ...[1, 2, 3].map(() => returnsBatch(world())()),
      lookNow(world()),
    ])
    await endDispute(world(), dispute, 'lost')
    const { availableUSDC, heldUSDC } = await balance(ada)
    const { amount_micro, covered_micro } = await receivable(`dispute:${dispute.id}`)
    t.is(amount_micro, 9_500_000n)
    if (asked.status === 200) t.is(Math.round(heldUSDC * 1e6) + Number(covered_micro), 9_500_000)
    else
      t.deepEqual(
        { availableUSDC, heldUSDC, covered_micro },
        { availableUSDC: 0, heldUSDC: 0, covered_micro },
      )
    if (asked.status === 200) t.is((await listHistory(world(), ada))[0]?.heldFor, 'dispute')
  }
})

test.serial('a payment that is recorded after its dispute is held by the next look', async (t) => {
  const ada = await creator()
  const { intentId } = await paidTip(world(), ada)
  payFiatIntent(world(), intentId, 100_000)
  const dispute = disputeTip(world(), intentId)
  await lookNow(world())
  t.like(await rowOf(dispute.id), { settled: false, intent_id: intentId })
  await settleIntentNow(world(), intentId)
  await lookNow(world())
  t.like(await rowOf(dispute.id), {
    settled: true,
    provider_transaction: await newestPayment(world(), intentId),
  })
  await endDispute(world(), dispute, 'lost')
  t.deepEqual(await balance(ada), { availableUSDC: 9.5, heldUSDC: 0 }, 'the second payment was in suspense')
})
