import test from 'ava'
import { endSuspenseRefund } from '../../../src/fiat/suspense/suspense.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { differingSums } from '../../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { lookNow } from '../../helpers/make/fiat/disputes.js'
import {
  createFiatIntent,
  payFiatIntent,
  readAvailableUsdc,
  readFiatStatus,
  readPlatformBalance,
  settleIntentNow,
} from '../../helpers/make/fiat/fiat-tips.js'
import { endRefundAtProvider, workOnRefunds } from '../../helpers/make/fiat/refunds.js'
import { listTips } from '../../helpers/make/tips.js'
import { runOpsScript, type ScriptRun } from '../../helpers/run-ops-script.js'
import { as } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, env: { PAYOUT_SECONDS: '15,3,900' } })

const suspense = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'suspense', ...args)

async function report(...args: string[]) {
  const { code, out } = await suspense('--json', ...args)
  return { code, ...JSON.parse(out) }
}

/** Pays too few kobo. Returns the provider's id of the payment. */
async function payTooLittle(
  { user }: TestCreator,
  kobo: number,
): Promise<{ intentId: string; payment: string }> {
  const tip = { creatorId: user.id, amount: 10, senderName: 'Bola', memo: 'well done' }
  const { intentId } = await createFiatIntent(world(), tip)
  payFiatIntent(world(), intentId, kobo)
  await settleIntentNow(world(), intentId)
  const row = await world().db('fiat_payments').where({ intent_id: intentId }).first()
  return { intentId, payment: row.provider_transaction }
}

test.afterEach.always('the ledger is consistent, and its suspense account equals the items', async (t) => {
  const { code, waiting, ledger } = await report()
  t.is(code, waiting === '0' ? 0 : 4)
  t.is(waiting, ledger)
  t.is(BigInt(waiting), await readPlatformBalance(world(), 'suspense', 'NGN'))
  t.true((await checkBooks(world().db)).holds)
  t.deepEqual(await differingSums(world().db), [], 'the daily figures match the tips')
})

test.serial('suspense lists waiting payments, and records a return once, with --apply', async (t) => {
  const creator = await registerCreator(world())
  const { intentId, payment } = await payTooLittle(creator, 123_456)
  const before = await report()
  const item = before.items.find((one: { transaction: string }) => one.transaction === payment)
  t.like(item, { intentId, kobo: '123456', reason: 'underpaid', resolution: null })
  t.regex((await suspense()).out, /NGN 1,234\.56 {2}underpaid/)

  const returned = ['--returned', payment, '--reason', 'refund 77']
  t.like(await report(...returned), { code: 0, applied: false, kobo: '123456' })
  t.is((await report()).waiting, before.waiting, 'a plan changes nothing')
  t.is((await suspense(...returned, '--apply', '--as', 'ngozi')).code, 0)
  const again = await suspense(...returned, '--apply')
  t.is(again.code, 1)
  t.regex(again.err, /is not waiting/)
  const expected = { code: 1, ok: false, error: again.err.trimEnd(), exitCode: 1 }
  t.deepEqual(await report(...returned, '--apply'), expected)
  t.is(BigInt(before.waiting) - BigInt((await report()).waiting), 123_456n)
  t.regex((await suspense('--all')).out, /returned: refund 77/)
  t.is(await readAvailableUsdc(world(), creator), 0)
  t.like(
    await world()
      .db('audit_log')
      .where({ subject: `payment:${payment}` })
      .first(),
    {
      actor: 'ngozi',
      action: 'suspense',
      details: { as: 'returned', reason: 'refund 77', kobo: '123456' },
    },
  )
})

test.serial('an assigned payment becomes part of its tip once, at the rate that gives less', async (t) => {
  const creator = await registerCreator(world())
  const { intentId, payment } = await payTooLittle(creator, 152_000)
  const [failed] = await listTips(world(), creator.user.id)
  t.like(failed, { status: 'failed', receivedAmount: null })
  await world().db('rates').insert({
    pair: 'USD/NGN',
    value: 1900,
    source: 'feed',
    as_of: new Date(),
    accepted_at: new Date(),
    accepted_by: 'feed',
  })
  const assign = ['--assign', payment, '--reason', 'the payer agrees']
  t.like(await report(...assign), { applied: false, creditMicro: '800000', userId: creator.user.id })
  t.is(await readAvailableUsdc(world(), creator), 0)
  // Of two operators at the same time one is too late.
  const codes = await Promise.all([suspense(...assign, '--apply'), suspense(...assign, '--apply')])
  t.deepEqual(codes.map(({ code }) => code).sort(), [0, 1])
  t.is(await readAvailableUsdc(world(), creator), 0.8)
  t.is(await readFiatStatus(world(), intentId), 'completed')
  t.like((await listTips(world(), creator.user.id))[0], {
    status: 'confirmed',
    sender: 'Bola',
    message: 'well done',
    receivedAmount: 0.8,
    fiatDetails: { platformFee: 0.04, finalAmountUsd: 0.8, amountNgn: 1520 },
  })
  const { body } = await world().request<{ transactions: unknown[] }>(
    'GET',
    '/creators/transactions',
    creator,
  )
  t.like(body.transactions[0], { type: 'credit', reference: intentId, amountUSDC: 0.8 })
  t.is(
    (
      await world()
        .db('audit_log')
        .where({ subject: `payment:${payment}` })
    ).length,
    1,
  )
})

test.serial('an assigned surplus is added to its tip', async (t) => {
  const creator = await registerCreator(world())
  await setRows(world(), 'rates', { value: 1900 }, { accepted_at: new Date(0) })
  const { intentId, payment } = await payTooLittle(creator, 1_680_000)
  t.like((await listTips(world(), creator.user.id))[0], { amount: 10, receivedAmount: 9.5 })
  t.is((await suspense('--assign', payment, '--reason', 'the payer agrees', '--apply')).code, 0)
  t.like((await listTips(world(), creator.user.id))[0], {
    status: 'confirmed',
    amount: 11,
    receivedAmount: 10.5,
    fiatDetails: { platformFee: 0.5, finalAmountUsd: 10.5, amountNgn: 16_800 },
  })
  t.is(await readAvailableUsdc(world(), creator), 10.5)
  t.is(await readFiatStatus(world(), intentId), 'completed')
})

test.serial('suspense exits with 4 while something waits', async (t) => {
  for (const { transaction } of (await report()).items)
    await suspense('--returned', transaction, '--reason', 'refund 1', '--apply')
  t.is((await suspense()).code, 0)
  t.like(await report(), { code: 0, ok: true })
  const { payment } = await payTooLittle(await registerCreator(world()), 5000)
  t.is((await suspense()).code, 4)
  t.like(await report(), { code: 4, ok: false })
  await suspense('--returned', payment, '--reason', 'refund 2', '--apply')
  t.like(await report(), { code: 0, ok: true })
})

test.serial('invalid arguments end with 2 and change nothing', async (t) => {
  const { payment } = await payTooLittle(await registerCreator(world()), 5000)
  const { waiting } = await report()
  for (const args of [
    ['--returned', payment, '--apply'],
    ['--assign', payment, '--reason', ' ', '--apply'],
    ['--assign', payment, '--returned', payment, '--reason', 'x', '--apply'],
    ['--asign', payment],
  ]) {
    const { code, out, err } = await suspense(...args)
    t.is(code, 2, args.join(' '))
    t.is(out, '')
    t.not(err, '')
    t.deepEqual(await report(...args), { code: 2, ok: false, error: err.trimEnd(), exitCode: 2 })
  }
  t.is((await suspense('--assign', '12345', '--reason', 'x', '--apply')).code, 1)
  t.is((await report()).waiting, waiting)
  const help = await suspense('--help')
  t.is(help.code, 0)
  t.regex(help.out, /--assign <payment>/)
})

test.beforeEach('the provider has no faults', () => world().fiat.fiatpay.faults.reset())

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
const refundElsewhere = (payment: string, kobo = 500_000): Promise<Response> =>
  fetch(`${world().env['FIATPAY_URL']}/refund`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world().env['FIATPAY_SECRET_KEY']}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ transaction: payment, amount: kobo }),
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

test.serial('a refund from the pages of the provider that is shown no more raises the alarm', async (t) => {
  const { faults, refunds } = world().fiat.fiatpay
  faults.setMode({ refunds: 'manual' })
  const { intentId, payment } = await waitingPayment()
  await refundElsewhere(payment)
  t.is((await refund(payment, ...confirmed(payment))).code, 4)
  const shown = refunds.find(intentId)
  if (shown === undefined) throw new Error('no refund')
  refunds.write({ ...shown, transaction: Number((await waitingPayment()).payment) })
  const before = await alarms()
  await workOnRefunds(world())
  await workOnRefunds(world())
  t.is(await alarms(), before + 1, 'one alarm for what is known')
  refunds.write(shown)
  endRefund(intentId, 'processed')
  await workOnRefunds(world())
  t.is((await itemOf(payment)).resolution, 'returned')
})

test.serial('a refund that is booked already is not taken for that of the rest', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const { intentId, payment } = await waitingPayment()
  const before = await readPlatformBalance(world(), 'float_ngn', 'NGN')
  await refundElsewhere(payment, 250_000)
  endRefund(intentId, 'processed')
  await lookNow(world())
  t.like(await itemOf(payment), { state: 'waiting', kobo: 250_000n })
  world().fiat.fiatpay.faults.reset()
  t.is((await refund(payment, ...confirmed(payment))).code, 0)
  t.deepEqual(
    refundsOf(payment).map(({ amountKobo }) => amountKobo),
    [250_000, 250_000],
  )
  t.is((await readPlatformBalance(world(), 'float_ngn', 'NGN')) - before, 500_000n)
})

test.serial('what an operator read of an older request does not reset a newer one', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const { intentId, payment } = await waitingPayment()
  t.is((await refund(payment, ...confirmed(payment))).code, 4)
  const seen = await itemOf(payment)
  endRefund(intentId, 'failed')
  t.is((await refund(payment, ...confirmed(payment))).code, 1)
  t.is((await refund(payment, ...confirmed(payment))).code, 4)
  await as('operators', world().services).transact((uow) =>
    endSuspenseRefund(
      uow,
      { id: seen.refund_id, transaction: payment, kobo: seen.kobo },
      'the refund failed',
    ),
  )
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
