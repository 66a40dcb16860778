import test from 'ava'
import { checkBooks } from '../../src/ledger/invariants.js'
import { registerCreator } from '../helpers/make/creators.js'
import {
  createFiatIntent,
  payFiatIntent,
  readPlatformBalance,
  settleIntentNow,
} from '../helpers/make/fiat-tips.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, env: { PAYOUT_TIMEOUT_MS: '3000' } })

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
/** As if the last request was an hour ago. */
const passSettleTime = (payment: string) =>
  world().db.raw(
    `update suspense_items set refund_sent_at = refund_sent_at - interval '1 hour' where provider_transaction = ?`,
    [payment],
  )

test.serial(
  '9: a refund is planned, confirmed, sent once, and booked when the provider confirms',
  async (t) => {
    const { payment } = await waitingPayment()
    const before = await readPlatformBalance(world(), 'provider_clearing', 'NGN')
    const plan = await refund(payment)
    t.is(plan.code, 0)
    t.regex(plan.out, /NGN 5000 of payment \d+: would be returned to the payer/)
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
    t.is((await readPlatformBalance(world(), 'provider_clearing', 'NGN')) - before, 500_000n)
    t.is((await refund(payment, ...confirmed(payment))).code, 1)
    t.is(refundsOf(payment).length, 1)
    const audit = await world()
      .db('audit_log')
      .where({ subject: `payment:${payment}` })
    t.like(audit, [
      { actor: 'ngozi', action: 'suspense refund', details: { note: 'ticket 7', kobo: '500000' } },
    ])
  },
)

test.serial('9: only the surplus of an overpaid tip goes back', async (t) => {
  const { payment } = await waitingPayment(2_000_000)
  t.is((await refund(payment, ...confirmed(payment))).code, 0)
  t.like(refundsOf(payment), [{ amountKobo: 480_000, status: 'processed' }])
})

test.serial('9: nobody assigns what is being refunded, and the next run follows the provider', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const { intentId, payment } = await waitingPayment()
  t.is((await refund(payment, ...confirmed(payment))).code, 4)
  t.is((await itemOf(payment)).state, 'refunding')
  const assigned = await suspense('--assign', payment, '--reason', 'x', '--apply')
  t.is(assigned.code, 1)
  t.regex(assigned.err, /is being refunded/)
  t.regex((await suspense()).out, /refunding: the provider shows the refund \d+ started/)
  const log = world().fiat.fiatpay
  const taken = log.refunds.find(intentId)
  if (taken === undefined) throw new Error('no refund')
  log.refunds.write({ ...taken, status: 'processed' })
  t.is((await refund(payment, ...confirmed(payment))).code, 0)
  t.is(refundsOf(payment).length, 1)
  t.is((await itemOf(payment)).resolution, 'returned')
})

test.serial("9: what the provider refuses waits again, with the provider's text", async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'reject', rejectText: 'Too old to refund' })
  const { payment } = await waitingPayment()
  const refused = await refund(payment, ...confirmed(payment))
  t.is(refused.code, 1)
  t.regex(refused.err, /waits again: Too old to refund/)
  t.like(await itemOf(payment), { state: 'waiting', refund_answer: 'Too old to refund' })
  t.is((await suspense('--assign', payment, '--reason', 'x', '--apply')).code, 0)
})

test.serial('9: a refund that fails at the provider waits again, and can be requested again', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const { intentId, payment } = await waitingPayment()
  t.is((await refund(payment, ...confirmed(payment))).code, 4)
  const { refunds } = world().fiat.fiatpay
  const taken = refunds.find(intentId)
  if (taken === undefined) throw new Error('no refund')
  refunds.write({ ...taken, status: 'failed' })
  t.is((await refund(payment, ...confirmed(payment))).code, 1)
  t.is((await itemOf(payment)).state, 'waiting')
  world().fiat.fiatpay.faults.reset()
  t.is((await refund(payment, ...confirmed(payment))).code, 0)
  t.deepEqual(
    refundsOf(payment).map(({ status }) => status),
    ['failed', 'processed'],
  )
})

for (const mode of ['accept-then-timeout', 'accept-then-500'] as const)
  test.serial(
    `9: unknown is not failed: after ${mode} the next run finds the refund and sends nothing`,
    async (t) => {
      world().fiat.fiatpay.faults.setMode({ refunds: mode })
      const { payment } = await waitingPayment()
      t.is((await refund(payment, ...confirmed(payment))).code, 5)
      t.is((await itemOf(payment)).state, 'refunding')
      t.is((await suspense('--assign', payment, '--reason', 'x', '--apply')).code, 1)
      await passSettleTime(payment)
      world().fiat.fiatpay.faults.reset()
      t.is((await refund(payment, ...confirmed(payment))).code, 0)
      t.is(refundsOf(payment).length, 1)
    },
  )

for (const mode of ['timeout', '500'] as const)
  test.serial(
    `9: after ${mode} a refund is requested again only when the provider had time to show it`,
    async (t) => {
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
    },
  )

test.serial(
  '9: a refund that somebody made on the pages of the provider is followed, not repeated',
  async (t) => {
    const { payment } = await waitingPayment()
    await fetch(`${world().env['FIATPAY_URL']}/refund`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world().env['FIATPAY_SECRET_KEY']}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ transaction: payment, amount: 500_000 }),
    })
    t.is((await refund(payment, ...confirmed(payment))).code, 0)
    t.is(refundsOf(payment).length, 1)
    t.is((await itemOf(payment)).resolution, 'returned')
  },
)
