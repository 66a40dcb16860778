import test from 'ava'
import { endSuspenseRefund } from '../../../src/fiat/suspense/suspense.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { registerCreator } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  payFiatIntent,
  readPlatformBalance,
  settleIntentNow,
} from '../../helpers/make/fiat/fiat-tips.js'
import { endRefundAtProvider, workOnRefunds } from '../../helpers/make/fiat/refunds.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, env: { PAYOUT_SECONDS: '3,3,900' } })

test.beforeEach('the provider has no faults', () => world().fiat.fiatpay.faults.reset())
test.afterEach.always('the ledger is consistent, and its suspense account equals the items', async (t) => {
  t.true((await checkBooks(world().db)).holds)
  const { rows } = await world().db.raw(
    'select coalesce(sum(kobo), 0)::bigint as kobo from suspense_items where resolved_at is null',
  )
  t.is(rows[0].kobo, await readPlatformBalance(world(), 'suspense', 'NGN'))
})

const suspense = (...args: string[]) => runOpsScript(world(), 'suspense', ...args)
const refund = (payment: string, ...args: string[]) => suspense('--refund', payment, ...args)
const confirmed = (payment: string) => [
  '--apply',
  `--confirm=${payment}`,
  '--reason',
  'ticket 7',
  '--as',
  'ngozi',
]

async function waitingPayment(kobo = 500_000): Promise<{ intentId: string; payment: string }> {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  payFiatIntent(world(), intentId, kobo)
  await settleIntentNow(world(), intentId)
  const row = await world().db('fiat_payments').where({ intent_id: intentId }).first()
  return { intentId, payment: row.provider_transaction }
}

const itemOf = (payment: string) =>
  world().db('suspense_items').where({ provider_transaction: payment }).first()
const refundsOf = (payment: string) =>
  world()
    .fiat.fiatpay.log()
    .refunds.filter(({ transaction }) => String(transaction) === payment)
/** A refund on the pages of the provider. */
const refundElsewhere = (payment: string): Promise<Response> =>
  fetch(`${world().env['FIATPAY_URL']}/refund`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world().env['FIATPAY_SECRET_KEY']}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ transaction: payment, amount: 500_000 }),
  })
const endRefund = (intentId: string, outcome: Parameters<typeof endRefundAtProvider>[2]) =>
  endRefundAtProvider(world(), intentId, outcome)
const alarms = () => countAlerts(world(), 'fiat_suspense')
/** As if the last request was an hour ago. */
const passSettleTime = (payment: string) =>
  world().db.raw(`update refunds set sent_at = sent_at - interval '1 hour' where provider_transaction = ?`, [
    payment,
  ])

test.serial('a refund is planned, confirmed, sent once, and booked when the provider confirms', async (t) => {
  const { payment } = await waitingPayment()
  const before = await readPlatformBalance(world(), 'float_ngn', 'NGN')
  const plan = await refund(payment)
  t.is(plan.code, 0)
  t.regex(plan.out, /NGN 5,000\.00 of payment \d+: would be returned to the payer/)
  t.is((await refund(payment, '--apply', '--reason', 'x')).code, 3)
  t.is((await refund(payment, '--apply', `--confirm=${payment}`)).code, 2)
  t.is(refundsOf(payment).length, 0)
  const done = await refund(payment, ...confirmed(payment))
  t.is(done.code, 0, done.err)
  t.like(refundsOf(payment), [{ amountKobo: 500_000, status: 'processed' }])
  t.like(await itemOf(payment), {
    state: 'resolved',
    resolution: 'returned',
    resolved_by: 'ngozi',
    note: 'ticket 7',
  })
  t.is((await readPlatformBalance(world(), 'float_ngn', 'NGN')) - before, 500_000n)
  t.is((await refund(payment, ...confirmed(payment))).code, 1)
  t.is(refundsOf(payment).length, 1)
  const audit = await world()
    .db('audit_log')
    .where({ subject: `payment:${payment}` })
  t.like(audit, [
    { actor: 'ngozi', action: 'suspense refund', details: { reason: 'ticket 7', kobo: '500000' } },
  ])
})

test.serial('nobody assigns what is being refunded, and the next run follows the provider', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const { intentId, payment } = await waitingPayment()
  t.is((await refund(payment, ...confirmed(payment))).code, 4)
  t.is((await itemOf(payment)).state, 'refunding')
  const assigned = await suspense('--assign', payment, '--reason', 'x', '--apply')
  t.is(assigned.code, 1)
  t.regex(assigned.err, /is being refunded/)
  t.regex((await suspense()).out, /refunding: the provider shows the refund \d+ started/)
  endRefund(intentId, 'processed')
  t.is((await refund(payment, ...confirmed(payment))).code, 0)
  t.is(refundsOf(payment).length, 1)
  t.is((await itemOf(payment)).resolution, 'returned')
})

test.serial("what the provider refuses waits again, with the provider's text", async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'reject', rejectText: 'Too old to refund' })
  const { payment } = await waitingPayment()
  const refused = await refund(payment, ...confirmed(payment))
  t.is(refused.code, 1)
  t.regex(refused.err, /waits again: Too old to refund/)
  t.like(await itemOf(payment), { state: 'waiting', refund_answer: 'Too old to refund' })
  t.is((await suspense('--assign', payment, '--reason', 'x', '--apply')).code, 0)
})

for (const mode of ['timeout', '500'] as const)
  test.serial(`after ${mode} a refund is repeated only when the provider had time to show it`, async (t) => {
    world().fiat.fiatpay.faults.setMode({ refunds: mode })
    const { payment } = await waitingPayment()
    t.is((await refund(payment, ...confirmed(payment))).code, 5)
    world().fiat.fiatpay.faults.reset()
    const early = await refund(payment, ...confirmed(payment))
    t.is(early.code, 5)
    t.regex(early.err, /run this again in \d+ s/)
    t.is(refundsOf(payment).length, 0)
    await passSettleTime(payment)
    // Of two operators at the same time one requests it.
    const codes = await Promise.all([1, 2].map(() => refund(payment, ...confirmed(payment))))
    t.is(codes.filter(({ code }) => code === 0).length >= 1, true)
    t.is(refundsOf(payment).length, 1)
  })

test.serial('a refund made on the pages of the provider is followed, not repeated', async (t) => {
  const { payment } = await waitingPayment()
  await refundElsewhere(payment)
  t.is((await refund(payment, ...confirmed(payment))).code, 0)
  t.is(refundsOf(payment).length, 1)
  t.is((await itemOf(payment)).resolution, 'returned')
})

test.serial('what an operator read of an older request does not reset a newer one', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const { intentId, payment } = await waitingPayment()
  t.is((await refund(payment, ...confirmed(payment))).code, 4)
  const seen = await itemOf(payment)
  endRefund(intentId, 'failed')
  t.is((await refund(payment, ...confirmed(payment))).code, 1)
  t.is((await refund(payment, ...confirmed(payment))).code, 4)
  await endSuspenseRefund(world().db, { id: seen.refund_id, transaction: payment }, 'the refund failed')
  t.is((await itemOf(payment)).state, 'refunding')
  endRefund(intentId, 'processed')
  t.is((await refund(payment, ...confirmed(payment))).code, 0)
})

test.serial('a return by hand, or an assignment, asks the provider about a refund first', async (t) => {
  const byHand = (payment: string) => suspense('--returned', payment, '--reason', 'x', '--apply')
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const started = await waitingPayment()
  t.is((await refund(started.payment, ...confirmed(started.payment))).code, 4)
  const refused = await byHand(started.payment)
  t.is(refused.code, 1)
  t.regex(refused.err, /is being refunded; run --refund again/)
  endRefund(started.intentId, 'processed')
  await workOnRefunds(world())
  t.is((await itemOf(started.payment)).resolution, 'returned')
  t.is(refundsOf(started.payment).length, 1)

  world().fiat.fiatpay.faults.setMode({ refunds: 'timeout' })
  const unknown = await waitingPayment()
  t.is((await refund(unknown.payment, ...confirmed(unknown.payment))).code, 5)
  const { refund_id: id } = await itemOf(unknown.payment)
  const recordReturned = () =>
    runOpsScript(world(), 'refunds', '--returned', id, '--apply', `--confirm=${id}`, '--reason', 'x')
  const early = await recordReturned()
  t.is(early.code, 5)
  t.regex(early.err, /run this again in \d+ s/)
  await passSettleTime(unknown.payment)
  t.is((await recordReturned()).code, 0)
  t.like(await itemOf(unknown.payment), { state: 'resolved', resolution: 'returned', resolved_by: 'ngozi' })

  // Somebody refunds on the pages of the provider.
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const elsewhere = await waitingPayment()
  await refundElsewhere(elsewhere.payment)
  const assigned = await suspense('--assign', elsewhere.payment, '--reason', 'x', '--apply')
  t.is(assigned.code, 1)
  t.regex(assigned.err, /shows the refund \d+ started/)
  endRefund(elsewhere.intentId, 'processed')
  t.is((await byHand(elsewhere.payment)).code, 0)
})

test.serial('a refund that needs a person raises the alarm, and the worker sends nothing', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const failed = await waitingPayment()
  t.is((await refund(failed.payment, ...confirmed(failed.payment))).code, 4)
  endRefund(failed.intentId, 'needs-attention')
  const before = await alarms()
  await workOnRefunds(world())
  t.is(await alarms(), before + 1)
  t.is((await itemOf(failed.payment)).state, 'refunding')
  endRefund(failed.intentId, 'failed')
  await workOnRefunds(world())
  t.is(await alarms(), before + 2)
  t.is((await itemOf(failed.payment)).state, 'waiting')

  world().fiat.fiatpay.faults.setMode({ refunds: 'timeout' })
  const lost = await waitingPayment()
  const known = await alarms()
  t.is((await refund(lost.payment, ...confirmed(lost.payment))).code, 5)
  await workOnRefunds(world())
  t.is(await alarms(), known)
  await passSettleTime(lost.payment)
  await workOnRefunds(world())
  t.is(await alarms(), known + 1)
  const listed = await suspense()
  t.is(listed.code, 4)
  t.regex(listed.out, /refunding: the provider shows no such refund/)
  t.is(refundsOf(lost.payment).length, 0)
})
