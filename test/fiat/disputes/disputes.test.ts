import test from 'ava'
import { mailText } from '../../../scripts/kit/mail-text.js'
import { lagosText } from '../../../src/kernel/payer-texts.js'
import { owesReceivable } from '../../../src/ledger/receivables/read-receivables.js'
import { gatherAccountData } from '../../../src/privacy/exports/account-data.js'
import { disputeViews, useDisputeWorld } from '../../helpers/make/fiat/dispute-world.js'
import {
  disputeTip,
  endDispute,
  lookNow,
  paidTip,
  payableCreator,
  payOut,
} from '../../helpers/make/fiat/disputes.js'
import { acceptRate, readPlatformBalance } from '../../helpers/make/fiat/fiat-tips.js'
import {
  countExecutions,
  createWithdrawal,
  listHistory,
  type readBalance,
  readWithdrawalRow,
  requestWithdrawal,
  sendDuePayouts,
} from '../../helpers/make/withdrawals.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'

const world = useDisputeWorld(test)
const creator = () => payableCreator(world())
const { balance, rowOf, receivable, mailsTo, alarms, tipOf, sums } = disputeViews(world)
/** What a creator owes, and what open disputes may cost, as the API shows it. */
async function claims({ session }: Parameters<typeof readBalance>[1]) {
  type Body = { balance: { owedUSDC?: number; disputedUSDC?: number } }
  const { owedUSDC, disputedUSDC } = (await world().request<Body>('GET', '/creators/balance', { session }))
    .body.balance
  return [owedUSDC, disputedUSDC]
}
const platform = (kind: string, currency: string) => readPlatformBalance(world(), kind, currency)

test.serial('an open dispute is found without webhooks and holds its money until it is won', async (t) => {
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
  t.deepEqual(await claims(ada), [undefined, 9.5])
  const { disputed, replyBy = '' } = await tipOf(ada, intentId)
  t.is(disputed, true)
  const mail = await world().db('emails').where({ kind: 'dispute-opened', recipient: ada.email }).first()
  t.true(
    mailText(mail)
      .replace(/\s+/g, ' ')
      .includes(`reply to this e-mail by ${lagosText(new Date(replyBy))}, and say so`),
    'mail and list say the same about what to do by when',
  )
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
  t.deepEqual(await claims(ada), [undefined, undefined])
  t.deepEqual(await sums(), books)
  t.like(await tipOf(ada, intentId), { disputed: undefined, replyBy: undefined })
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
})

test.serial('stolen card: the loss is owed, blocks take-outs, and later tips pay it down', async (t) => {
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
  t.deepEqual(await claims(thief), [7.6, undefined])
  const lost = await sums()
  t.is(lost.float - before.float, 1_520_000n, 'the provider has taken the naira')
  t.is(lost.owed, -7_600_000n, 'what the creator owes is ours')
  t.like(await tipOf(thief, intentId), { amount: 10, refundedAmount: 10 })
  const listed = await runOpsScript(world(), 'receivables')
  t.regex(listed.out, new RegExp(`${id}  7\\.6 USDC of 9\\.5 USDC`))

  await paidTip(world(), thief)
  t.deepEqual(await balance(thief), { availableUSDC: 1.9, heldUSDC: 0 })
  t.like(await receivable(id), { covered_micro: 9_500_000n })
  t.deepEqual(await claims(thief), [undefined, undefined])
  t.false(await owesReceivable(world().db, thief.user.id))
  t.is(await platform('receivables', 'USDC'), 0n)
  t.deepEqual(
    (await mailsTo(thief.email)).filter((kind) => kind.startsWith('dispute')),
    ['dispute-opened', 'dispute-lost'],
  )
})

test.serial('on the gross basis the platform gives up its fee of a lost payment', async (t) => {
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
})

test.serial('an unsent withdrawal of who owes waits until it is cancelled or covered', async (t) => {
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
})

test.serial('two disputes about one payment hold it once, and lost twice debit it once', async (t) => {
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
})

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

test.serial('a frozen and a closed account are debited too; a closed one is mailed nothing', async (t) => {
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
})

test.serial('tips pay no debt that is written off, and a dispute won after all undoes it', async (t) => {
  const ada = await creator()
  const { intentId } = await paidTip(world(), ada)
  await payOut(world(), ada, 9.5)
  const before = await sums()
  const dispute = disputeTip(world(), intentId)
  await endDispute(world(), dispute, 'lost')
  const id = `dispute:${dispute.id}`
  const writeOff = (named: string, ...more: string[]) =>
    runOpsScript(world(), 'receivables', '--write-off', named, '--reason', 'test', ...more)
  t.regex((await writeOff(ada.user.id)).out, /9\.5 USDC: not written off yet/)
  t.is((await writeOff(ada.email, '--apply')).code, 3, 'it is confirmed')
  t.is((await writeOff('dispute:0')).code, 1)
  t.true(await owesReceivable(world().db, ada.user.id))

  t.is((await writeOff(ada.email, '--apply', `--confirm=${ada.email}`)).code, 0)
  t.is((await writeOff(id, '--apply', `--confirm=${id}`)).code, 1, 'once')
  t.false(await owesReceivable(world().db, ada.user.id))
  const after = await sums()
  t.is(after.owed, before.owed)
  t.is(before.fee - after.fee, 9_500_000n)
  await paidTip(world(), ada, { amount: 2 })
  t.deepEqual(await balance(ada), { availableUSDC: 1.9, heldUSDC: 0 })
  t.like(await world().db('audit_log').where({ action: 'receivables write-off' }).first(), {
    subject: `user:${ada.user.id}`,
    details: { case: id, micro: '9500000', reason: 'test' },
  })
  const { cases, disputes } = await gatherAccountData(world().services, ada.user.id)
  t.like(cases, [{ id, state: 'written off', amountUSDC: '9.5' }])
  t.like(disputes, [{ tip: intentId, state: 'lost', amountNGN: '15200' }])

  await endDispute(world(), dispute, 'won')
  t.deepEqual(await balance(ada), { availableUSDC: 1.9, heldUSDC: 0 }, 'nothing of it was paid')
  const { owed, fee } = await sums()
  t.deepEqual({ owed, fee }, { owed: before.owed, fee: before.fee })
})

test.serial('a dispute costs its naira at the locked or the current rate, whichever is more', async (t) => {
  const ada = await creator()
  const { intentId } = await paidTip(world(), ada)
  const before = await sums()
  const undo = await acceptRate(world(), 1430)
  const dispute = disputeTip(world(), intentId)
  await endDispute(world(), dispute, 'lost')
  await undo()
  t.like(await receivable(`dispute:${dispute.id}`), {
    amount_micro: 10_629_370n,
    covered_micro: 9_500_000n,
    owed: true,
  })
  t.is((await sums()).fxUsdc - before.fxUsdc, 10_629_370n)
  await endDispute(world(), dispute, 'won')
  t.deepEqual(await balance(ada), { availableUSDC: 9.5, heldUSDC: 0 })
  t.deepEqual(await sums(), before)
})
