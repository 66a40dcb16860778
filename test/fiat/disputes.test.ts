import test from 'ava'
import { checkBooks } from '../../src/ledger/invariants.js'
import { owesReceivable } from '../../src/ledger/receivables.js'
import {
  disputeTip,
  endDispute,
  lookNow,
  newestPayment,
  paidTip,
  payableCreator,
  payOut,
  returnsBatch,
  reverseTip,
} from '../helpers/make/disputes.js'
import {
  listSuspense,
  payFiatIntent,
  readPlatformBalance,
  settleIntentNow,
} from '../helpers/make/fiat-tips.js'
import {
  bank,
  countExecutions,
  createWithdrawal,
  listHistory,
  readBalance,
  readWithdrawalRow,
  requestWithdrawal,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true, env: { IDENTITY_SINGLE_NGN: '100000' } })

const creator = () => payableCreator(world())
const balance = (person: Parameters<typeof readBalance>[1]) => readBalance(world(), person)
const platform = (kind: string, currency: string) => readPlatformBalance(world(), kind, currency)
const rowOf = (id: number) =>
  world()
    .db('disputes')
    .where({ id: String(id) })
    .first()
const receivable = (id: string) => world().db('receivables').where({ id }).first()
const mailsTo = async (address: string) =>
  (await world().db('emails').where({ recipient: address }).orderBy('created_at').select('kind')).map(
    ({ kind }) => kind,
  )
async function alarms(kind: string): Promise<number> {
  const { values } = await world().services.metrics.alerts.get()
  return values.find(({ labels }) => labels.kind === kind)?.value ?? 0
}
interface OwnTip {
  readonly signature: string
  readonly amount: number
  readonly disputed?: boolean
  readonly refundedAmount?: number
}
async function tipOf({ session }: { readonly session: string }, intentId: string): Promise<OwnTip> {
  const { body } = await world().request<{ tips: OwnTip[] }>('GET', '/creators/tips', { session })
  const tip = body.tips.find(({ signature }) => signature === intentId)
  if (tip === undefined) throw new Error('no such tip')
  return tip
}

/** What the platform has, earns and exchanges, to compare before and after. */
async function sums() {
  const [float, fxNgn, fxUsdc, fee, owed] = await Promise.all([
    platform('float_ngn', 'NGN'),
    platform('fx', 'NGN'),
    platform('fx', 'USDC'),
    platform('platform_fee', 'USDC'),
    platform('receivables', 'USDC'),
  ])
  return { float, fxNgn, fxUsdc, fee, owed }
}

test.beforeEach('webhooks are lost, so that only a look finds something', () => {
  world().fiat.fiatpay.faults.reset()
  world().fiat.fiatpay.faults.setMode({ webhooks: 'off' })
})
test.afterEach.always('the ledger is consistent, and its suspense account equals the items', async (t) => {
  const { holds, invariants } = await checkBooks(world().db)
  t.true(
    holds,
    invariants
      .filter(({ violations }) => violations > 0n)
      .map(({ name }) => name)
      .join(),
  )
  const { rows } = await world().db.raw(
    'select coalesce(sum(kobo), 0)::bigint as kobo from suspense_items where resolved_at is null',
  )
  t.is(rows[0].kobo, await platform('suspense', 'NGN'))
})

test.serial(
  'an open dispute is found without webhooks, holds what it is about, and is free when it is won',
  async (t) => {
    const ada = await creator()
    const { intentId, payment } = await paidTip(world(), ada, { payerEmail: 'payer@example.com' })
    await paidTip(world(), ada)
    const before = await alarms('dispute_open')
    const { id } = disputeTip(world(), intentId)
    await lookNow(world())
    t.like(await rowOf(id), {
      state: 'open',
      provider_transaction: payment,
      intent_id: intentId,
      kobo: 1_520_000n,
    })
    t.deepEqual(await balance(ada), { availableUSDC: 9.5, heldUSDC: 9.5 })
    t.is((await tipOf(ada, intentId)).disputed, true)
    t.is(await alarms('dispute_open'), before + 1)
    const refused = await requestWithdrawal<{ error: string }>(world(), ada, { amountUSDC: 9.6 })
    t.is(refused.body.error, 'Insufficient Balance')
    await lookNow(world())
    t.deepEqual(await balance(ada), { availableUSDC: 9.5, heldUSDC: 9.5 }, 'a second look holds nothing more')
    t.is(await alarms('dispute_open'), before + 1)

    const dispute = world().fiat.fiatpay.disputes.get(id)
    if (dispute === undefined) throw new Error('no dispute')
    const books = await sums()
    await endDispute(world(), dispute, 'won')
    t.deepEqual(await balance(ada), { availableUSDC: 19, heldUSDC: 0 })
    t.deepEqual(await sums(), books)
    t.is((await tipOf(ada, intentId)).disputed, undefined)
    t.deepEqual(
      (await mailsTo(ada.email)).filter((kind) => kind.startsWith('dispute')),
      ['dispute-opened', 'dispute-won'],
    )
    const { rows } = await world().db.raw(
      `select kind from emails where kind like 'payer-%' order by created_at`,
    )
    t.deepEqual(
      rows.map(({ kind }: { kind: string }) => kind),
      ['payer-dispute-opened', 'payer-dispute-won'],
    )
  },
)

test.serial(
  'stolen card: tip, withdrawal, lost dispute: the loss is owed, blocks take-outs, and later tips pay it down',
  async (t) => {
    const thief = await creator()
    const { intentId } = await paidTip(world(), thief)
    await payOut(world(), thief, 9.5)
    t.deepEqual(await balance(thief), { availableUSDC: 0, heldUSDC: 0 })
    const before = await sums()
    const dispute = disputeTip(world(), intentId)
    await lookNow(world())
    t.deepEqual(await balance(thief), { availableUSDC: 0, heldUSDC: 0 })
    await paidTip(world(), thief, { amount: 2 })
    t.deepEqual(
      await balance(thief),
      { availableUSDC: 0, heldUSDC: 1.9 },
      'what arrives while it is open is held',
    )
    t.is(
      (await requestWithdrawal<{ error: string }>(world(), thief, { amountUSDC: 1.9 })).body.error,
      'Insufficient Balance',
    )

    await endDispute(world(), dispute, 'lost')
    const id = `dispute:${dispute.id}`
    t.like(await receivable(id), { amount_micro: 9_500_000n, covered_micro: 1_900_000n, owed: true })
    t.deepEqual(await balance(thief), { availableUSDC: 0, heldUSDC: 0 })
    t.true(await owesReceivable(world().db, thief.user.id))
    const lost = await sums()
    t.is(lost.float - before.float, 1_520_000n, 'the provider has taken the naira')
    t.is(lost.owed, -7_600_000n, 'what the creator owes is ours')
    t.like(await tipOf(thief, intentId), { amount: 10, refundedAmount: 10 })
    const listed = await runOpsScript(world(), 'disputes')
    t.regex(listed.out, new RegExp(`${id}  7\\.6 USDC of 9\\.5 USDC`))

    await paidTip(world(), thief)
    t.deepEqual(await balance(thief), { availableUSDC: 1.9, heldUSDC: 0 })
    t.like(await receivable(id), { covered_micro: 9_500_000n })
    t.false(await owesReceivable(world().db, thief.user.id))
    t.is(await platform('receivables', 'USDC'), 0n)
    t.deepEqual(
      (await mailsTo(thief.email)).filter((kind) => kind.startsWith('dispute')),
      ['dispute-opened', 'dispute-lost'],
    )
  },
)

test.serial(
  'on the gross basis the platform gives up its own fee of a lost payment, and parts add up',
  async (t) => {
    const ada = await creator()
    // A charge that the payer chose: 95 % of what exceeds the promise is the creator's.
    const { intentId, payment } = await paidTip(world(), ada, { amount: 10, amountNgn: 33_333.33 })
    const credited = (await balance(ada)).availableUSDC
    const before = await sums()
    for (const kobo of [1_111_111, 1_111_111, 1_111_111]) {
      const dispute = disputeTip(world(), intentId, kobo)
      await endDispute(world(), dispute, 'lost')
    }
    t.deepEqual(await balance(ada), { availableUSDC: 0, heldUSDC: 0 })
    const returns = await world().db('payment_returns').where({ provider_transaction: payment })
    const total = (column: string) => returns.reduce((sum: bigint, row) => sum + row[column], 0n)
    t.is(total('debit_micro'), BigInt(Math.round(credited * 1e6)))
    t.is(before.fee - (await sums()).fee, total('fee_micro'))
    t.true(total('fee_micro') > 0n)
    t.is((await sums()).fxUsdc - before.fxUsdc, total('debit_micro') + total('fee_micro'))
    t.is((await sums()).fxNgn - before.fxNgn, -3_333_333n)
  },
)

test.serial(
  'an unsent withdrawal of a creator who owes waits for the dispute, until it is cancelled or covered',
  async (t) => {
    const ada = await creator()
    const { intentId } = await paidTip(world(), ada)
    world().fiat.fiatpay.faults.setMode({ transfers: 'no-float', webhooks: 'off' })
    const first = await createWithdrawal(world(), ada, { amountUSDC: 5 })
    await sendDuePayouts(world())
    t.is((await readWithdrawalRow(world(), first.reference)).send_state, 'not_sent')
    const dispute = disputeTip(world(), intentId)
    await lookNow(world())
    world().fiat.fiatpay.faults.setMode({ transfers: 'auto', webhooks: 'off' })
    await world()
      .db('withdrawals')
      .where({ reference: first.reference })
      .update({ due_at: new Date(0) })
    await sendDuePayouts(world())
    t.is(countExecutions(world(), first.reference), 0)
    t.like((await listHistory(world(), ada))[0], { status: 'pending', heldFor: 'dispute' })
    t.regex(
      (await runOpsScript(world(), 'payouts', 'list', '--state', 'dispute')).out,
      new RegExp(first.reference),
    )

    await endDispute(world(), dispute, 'lost')
    t.like((await listHistory(world(), ada))[0], { heldFor: 'dispute' }, 'what is owed holds it too')
    const cancelled = await world().request('POST', `/payouts/${first.reference}/cancel`, {
      session: ada.session,
    })
    t.is(cancelled.status, 200)
    t.deepEqual(await balance(ada), { availableUSDC: 0, heldUSDC: 0 }, 'what is given back pays what is owed')
    t.false(await owesReceivable(world().db, ada.user.id))

    const bola = await creator()
    const tip = await paidTip(world(), bola)
    world().fiat.fiatpay.faults.setMode({ transfers: 'no-float', webhooks: 'off' })
    const second = await createWithdrawal(world(), bola, { amountUSDC: 5 })
    await sendDuePayouts(world())
    const open = disputeTip(world(), tip.intentId)
    await lookNow(world())
    world().fiat.fiatpay.faults.setMode({ transfers: 'auto', webhooks: 'off' })
    await endDispute(world(), open, 'won')
    t.like((await listHistory(world(), bola))[0], { heldFor: null })
    await world()
      .db('withdrawals')
      .where({ reference: second.reference })
      .update({ due_at: new Date(0) })
    await sendDuePayouts(world())
    t.is(countExecutions(world(), second.reference), 1)
  },
)

test.serial(
  'a dispute about money in suspense takes it from there, and gives it back when it is won after all',
  async (t) => {
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

test.serial(
  'two disputes about one payment hold it once, and what is lost twice is debited once',
  async (t) => {
    const ada = await creator()
    const { intentId } = await paidTip(world(), ada)
    await paidTip(world(), ada)
    const [one, other] = [disputeTip(world(), intentId), disputeTip(world(), intentId)]
    await lookNow(world())
    t.deepEqual(await balance(ada), { availableUSDC: 9.5, heldUSDC: 9.5 })
    await endDispute(world(), one, 'won')
    t.deepEqual(await balance(ada), { availableUSDC: 9.5, heldUSDC: 9.5 }, 'the other one holds it now')
    await endDispute(world(), other, 'lost')
    t.deepEqual(await balance(ada), { availableUSDC: 9.5, heldUSDC: 0 })
    await endDispute(world(), one, 'lost')
    t.deepEqual(await balance(ada), { availableUSDC: 9.5, heldUSDC: 0 })
    t.like(await rowOf(one.id), { state: 'lost', settled: true })
  },
)

test.serial('won after lost: the creator has back what was paid of it, and owes nothing', async (t) => {
  const ada = await creator()
  const { intentId } = await paidTip(world(), ada)
  await payOut(world(), ada, 5)
  const before = await sums()
  const dispute = disputeTip(world(), intentId)
  await endDispute(world(), dispute, 'lost')
  t.true(await owesReceivable(world().db, ada.user.id))
  await endDispute(world(), dispute, 'won')
  t.deepEqual(await balance(ada), { availableUSDC: 4.5, heldUSDC: 0 })
  t.false(await owesReceivable(world().db, ada.user.id))
  t.deepEqual(await sums(), before)
  t.is((await tipOf(ada, intentId)).refundedAmount, undefined)
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

test.serial(
  'a lost dispute reverses its payment, which is no second loss; nor is a dispute after a refund',
  async (t) => {
    const ada = await creator()
    const lost = await paidTip(world(), ada)
    await paidTip(world(), ada)
    await endDispute(world(), disputeTip(world(), lost.intentId), 'lost')
    await lookNow(world())
    t.is((await balance(ada)).availableUSDC, 9.5)

    const refunded = await paidTip(world(), ada)
    const answer = await fetch(`${world().env['FIATPAY_URL']}/refund`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world().env['FIATPAY_SECRET_KEY']}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ transaction: refunded.payment, amount: 1_000_000 }),
    })
    t.is(answer.status, 200)
    const refund = world().fiat.fiatpay.refunds.find(refunded.intentId)
    if (refund === undefined) throw new Error('no refund')
    world().fiat.fiatpay.setRefundOutcome(refund, 'processed')
    await lookNow(world())
    t.is((await balance(ada)).availableUSDC, 12.75, 'a refund on the pages of the provider is debited')
    t.is((await tipOf(ada, refunded.intentId)).refundedAmount, 6.58)
    await endDispute(world(), disputeTip(world(), refunded.intentId), 'lost')
    t.is((await balance(ada)).availableUSDC, 9.5, 'a dispute takes what the refund has left')
  },
)

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

test.serial(
  'a frozen account and a closed one are debited too; a closed one is mailed nothing',
  async (t) => {
    const frozen = await creator()
    const tip = await paidTip(world(), frozen)
    await world()
      .db('users')
      .where({ id: frozen.user.id })
      .update({ frozen_at: new Date(), frozen_reason: 'test' })
    await endDispute(world(), disputeTip(world(), tip.intentId), 'lost')
    const accounts = (userId: string) =>
      world().db('ledger_accounts').where({ user_id: userId }).sum({ units: 'balance' }).first()
    t.is(Number((await accounts(frozen.user.id))?.units), 0)

    const closed = await creator()
    const late = await paidTip(world(), closed)
    await payOut(world(), closed, 9.5)
    await world().db('users').where({ id: closed.user.id }).update({ closed_at: new Date() })
    const before = (await mailsTo(closed.email)).length
    await endDispute(world(), disputeTip(world(), late.intentId), 'lost')
    t.true(await owesReceivable(world().db, closed.user.id))
    t.is((await mailsTo(closed.email)).length, before)
  },
)

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

test.serial(
  'workers at the same time, and withdrawals at the same time, neither hold nor pay anything twice',
  async (t) => {
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
  },
)

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
