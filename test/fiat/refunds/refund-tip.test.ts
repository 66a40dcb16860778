import test from 'ava'
import { composeRefunds } from '../../../src/compose.js'
import { refundTip } from '../../../src/fiat/refunds/request-refund.js'
import { readBalance } from '../../../src/ledger/accounts.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { ExchangeRates } from '../../../src/market/exchange-rates.js'
import { gatherAccountData } from '../../../src/privacy/exports/account-data.js'
import { countAlerts, mailKinds } from '../../helpers/alerts-and-mails.js'
import { registerCreator, registerPerson, type TestCreator } from '../../helpers/make/creators.js'
import { lookNow } from '../../helpers/make/fiat/disputes.js'
import {
  acceptRate,
  createFiatIntent,
  expireFiatIntent,
  payFiatIntent,
  readAvailableUsdc,
  readPlatformBalance,
  referenceOf,
  settleIntentNow,
} from '../../helpers/make/fiat/fiat-tips.js'
import {
  endRefundAtProvider,
  listRefunds,
  paidTip,
  refundsAtProvider,
  requestRefund,
  workOnRefunds,
} from '../../helpers/make/fiat/refunds.js'
import { stepUpCode } from '../../helpers/make/sign-in/emailed-codes.js'
import { addTotp, ageFactors, nextCode } from '../../helpers/make/sign-in/factors.js'
import { requestWithdrawal } from '../../helpers/make/withdrawals.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true, env: { PAYOUT_SECONDS: '15,3,900' } })

test.beforeEach('the provider has no faults', () => world().fiat.fiatpay.faults.reset())
test.afterEach.always('the books hold, and what is held are the open refunds', async (t) => {
  t.true((await checkBooks(world().db)).holds)
  const { rows } = await world().db.raw(/* sql */ `
    select (select coalesce(sum(debit_micro), 0)::bigint from refunds where ended_at is null) as open,
      (select coalesce(sum(balance), 0)::bigint from ledger_accounts where kind = 'held' and user_id is not null)
        - (select coalesce(sum(debit_micro), 0)::bigint from withdrawals where status in ('pending', 'submitted', 'processing')) as held`)
  t.is(rows[0].open, rows[0].held)
})

type Tips = { readonly tips: readonly { readonly signature: string; readonly refundedAmount?: number }[] }
/** What the tip shows, to its creator and to everybody. */
async function shownOf(creator: { readonly session: string; readonly wallet: string }, tipId: string) {
  const { session, wallet } = creator
  const lists = await Promise.all([
    world().request<Tips>('GET', '/creators/tips', { session }),
    world().request<Tips>('GET', `/chain/tips?address=${wallet}`),
  ])
  const [own, all] = lists.map(({ body }) => body.tips.find(({ signature }) => signature === tipId))
  if (own?.refundedAmount !== all?.refundedAmount) throw new Error('the two lists differ')
  return own?.refundedAmount
}
const finish = (tipId: string) =>
  until('the refunds have ended', async () => {
    await workOnRefunds(world())
    const open = await world().db('refunds').where({ intent_id: tipId }).whereNull('ended_at').first()
    return open === undefined
  })
/** A refund of a new tip that the provider has accepted. It goes on when a test says so. */
async function acceptedRefund(amountUSD: number) {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  await requestRefund(world(), creator, tipId, amountUSD)
  await workOnRefunds(world())
  return { creator, tipId }
}
const alarms = () => countAlerts(world(), 'tip_refund')
const rowsOf = (tipId: string) => world().db('refunds').where({ intent_id: tipId }).orderBy('created_at')
const passSettleTime = (tipId: string) =>
  world().db.raw(`update refunds set sent_at = sent_at - interval '1 hour' where intent_id = ?`, [tipId])
/** Their recipients are sealed. */
const refundMails = async () => (await world().db('emails').where({ kind: 'refund' })).length
const mailsTo = (recipient: string) => mailKinds(world(), recipient)

for (const fees of ['off', 'on'] as const)
  test.serial(`a whole tip goes back: held, sent once, booked when it is paid (fees ${fees})`, async (t) => {
    world().fiat.fiatpay.faults.setMode({ fees })
    const creator = await registerCreator(world())
    const tipId = await paidTip(world(), creator, { payerEmail: `payer-${fees}@example.com` })
    t.is(await readAvailableUsdc(world(), creator), 9.5)
    t.is(await shownOf(creator, tipId), undefined)
    const before = await Promise.all([
      readPlatformBalance(world(), 'float_ngn', 'NGN'),
      readPlatformBalance(world(), 'fx', 'NGN'),
      readPlatformBalance(world(), 'fx', 'USDC'),
    ])
    const balance = world().fiat.fiatpay.balanceKobo
    const mailsBefore = await refundMails()
    const asked = await requestRefund(world(), creator, tipId)
    t.is(asked.status, 200)
    const { refund } = asked.body
    t.like(refund, {
      tipId,
      amountUSD: 10,
      amountUSDC: 9.5,
      status: 'pending',
      failureReason: null,
      endedAt: null,
    })
    t.like(await readBalance(world().db, creator.user.id, 'USDC'), { available: 0n, held: 9_500_000n })
    t.is(refundsAtProvider(world(), tipId).length, 0)
    t.is(await shownOf(creator, tipId), 10)
    t.is((await requestRefund<{ code: string }>(world(), creator, tipId)).body.code, 'tip_refunded')

    await finish(tipId)
    const kobo = BigInt(Math.round(refund.amountNGN * 100))
    t.like(refundsAtProvider(world(), tipId), [{ amountKobo: Number(kobo), status: 'processed' }])
    t.is(BigInt(balance - world().fiat.fiatpay.balanceKobo), kobo)
    t.like(await readBalance(world().db, creator.user.id, 'USDC'), { available: 0n, held: 0n })
    const after = await Promise.all([
      readPlatformBalance(world(), 'float_ngn', 'NGN'),
      readPlatformBalance(world(), 'fx', 'NGN'),
      readPlatformBalance(world(), 'fx', 'USDC'),
    ])
    t.deepEqual(after.map((units, index) => units - (before[index] ?? 0n)).slice(0, 2), [kobo, -kobo])
    t.like((await listRefunds(world(), creator, tipId))[0], {
      id: refund.id,
      status: 'paid',
      failureReason: null,
    })
    t.is(await shownOf(creator, tipId), 10)
    const mails = await mailsTo(creator.user.email)
    t.is(await refundMails(), mailsBefore + 1, 'the payer gave an address')
    t.deepEqual(mails.slice(-2), ['refund-requested', 'refund-paid'])
    const { body } = await world().request<{ transactions: { reference: string; amountUSDC: number }[] }>(
      'GET',
      '/creators/transactions',
      { session: creator.session },
    )
    t.true(body.transactions.some(({ reference, amountUSDC }) => reference === tipId && amountUSDC === -9.5))
  })

test.serial('parts go back until nothing is left, each to its share, and the sums are exact', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator, { amount: 9.99 })
  const [payment] = await world().db('fiat_payments').where({ intent_id: tipId })
  for (const amount of [3.33, 0.01, 2]) {
    t.is((await requestRefund(world(), creator, tipId, amount)).status, 200)
    await workOnRefunds(world())
  }
  t.is(await shownOf(creator, tipId), 5.34)
  const tooMuch = await requestRefund<{ error: string; details: { problem: string }[] }>(
    world(),
    creator,
    tipId,
    4.66,
  )
  t.is(tooMuch.status, 400)
  t.is(tooMuch.body.error, 'Invalid amount')
  t.is(tooMuch.body.details[0]?.problem, 'is more than the 4.65 USD that are left of this tip')
  for (const wrong of [0, -1, 0.001, 'all', Number.MAX_VALUE])
    t.is((await requestRefund(world(), creator, tipId, wrong)).status, 400, String(wrong))
  t.is((await requestRefund(world(), creator, tipId)).body.refund.amountUSD, 4.65)
  await finish(tipId)
  const rows = await rowsOf(tipId)
  t.is(
    rows.reduce((sum, { kobo }) => sum + kobo, 0n),
    payment.kobo,
  )
  t.is(await readAvailableUsdc(world(), creator), 0)
  t.is(await shownOf(creator, tipId), 9.99)
  t.is((await listRefunds(world(), creator, tipId)).length, 4)
  const { refunds } = (await gatherAccountData(world().services, creator.user.id)) as { refunds: unknown[] }
  t.is(refunds.length, 4)
  t.like(refunds[0], { tip: tipId, status: 'paid', amountUSD: '4.65' })
})

test.serial('what cannot go back is refused before anything is held', async (t) => {
  const creator = await registerCreator(world())
  const other = await registerPerson(world())
  const code = async (tipId: string, who = creator) =>
    (await requestRefund<{ code: string }>(world(), who, tipId)).body.code
  const { intentId: unpaid } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  t.is(await code(unpaid), 'tip_not_paid')
  await expireFiatIntent(world(), unpaid)
  await settleIntentNow(world(), unpaid)
  t.is(await code(unpaid), 'tip_not_paid')
  t.is(await code(`fiatpay_${'0'.repeat(32)}`), 'tip_not_found')
  t.is(await code('nothing'), 'tip_not_found')
  t.is(await code(`pi_${creator.user.id}`), 'tip_not_in_naira')
  const signature = '5'.repeat(87)
  t.true(['tip_not_in_naira', 'tip_not_found'].includes(await code(signature)))
  const tipId = await paidTip(world(), creator)
  t.is(await code(tipId, other as typeof creator), 'tip_not_found')
  t.is(
    (await world().request('GET', `/creators/tips/${tipId}/refunds`, { session: other.session })).status,
    404,
  )
  t.is((await requestWithdrawal(world(), creator, { amountUSDC: 5 })).status, 200)
  const poor = await requestRefund<{ error: string; details: { problem: string }[] }>(world(), creator, tipId)
  t.is(poor.body.error, 'Insufficient Balance')
  t.regex(poor.body.details[0]?.problem ?? '', /debits 9\.5 USDC, .* balance of 4\.5 USDC/)
  t.is((await requestRefund(world(), creator, tipId, 4.5)).status, 200)
  await setRows(world(), 'users', { id: creator.user.id }, { frozen_at: new Date(), frozen_reason: 'test' })
  t.is(await code(tipId), 'account_frozen')
  await workOnRefunds(world())
  t.is((await rowsOf(tipId))[0].send_state, 'not_sent', 'nothing of a frozen account is sent')
  await world().db('users').where({ id: creator.user.id }).update({ frozen_at: null, frozen_reason: null })
  await finish(tipId)
  t.is((await rowsOf(tipId))[0].status, 'completed')
})

test.serial('an Idempotency-Key gives back once, also after the refund has failed', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'reject', rejectText: 'Too old to refund' })
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  const first = await requestRefund(world(), creator, tipId, 4, { key: 'key-1' })
  await workOnRefunds(world())
  world().fiat.fiatpay.faults.reset()
  const again = await requestRefund(world(), creator, tipId, 4, { key: 'key-1' })
  t.deepEqual(again.body, first.body)
  t.is((await requestRefund(world(), creator, tipId, 5, { key: 'key-1' })).status, 422)
  t.is((await rowsOf(tipId)).length, 1)
  t.like((await listRefunds(world(), creator, tipId))[0], {
    status: 'failed',
    failureReason: 'Too old to refund',
  })
  t.is(await readAvailableUsdc(world(), creator), 9.5)
  t.is(await shownOf(creator, tipId), undefined)
  t.is((await mailsTo(creator.user.email)).at(-1), 'refund-failed')
  const together = await Promise.all(
    [1, 2, 3].map(() => requestRefund(world(), creator, tipId, 4, { key: 'key-2' })),
  )
  t.true(together.every(({ status }) => status === 200 || status === 409))
  t.is((await rowsOf(tipId)).length, 2)
  await finish(tipId)
})

for (const mode of ['accept-then-timeout', 'accept-then-500'] as const)
  test.serial(`unknown is not failed: after ${mode} the refund is found and not sent again`, async (t) => {
    world().fiat.fiatpay.faults.setMode({ refunds: mode })
    const creator = await registerCreator(world())
    const tipId = await paidTip(world(), creator)
    t.is((await requestRefund(world(), creator, tipId, 4)).status, 200)
    await workOnRefunds(world())
    await finish(tipId)
    t.is((await rowsOf(tipId))[0].status, 'completed')
    t.is(refundsAtProvider(world(), tipId).length, 1)
  })

test.serial('a lost request waits for an operator, who sends it again or gives back', async (t) => {
  const ops = (...args: string[]) => runOpsScript(world(), 'refunds', ...args)
  const confirmed = (id: string) => ['--apply', `--confirm=${id}`, '--reason', 'ticket 9', '--as', 'ngozi']
  world().fiat.fiatpay.faults.setMode({ refunds: '500' })
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  await requestRefund(world(), creator, tipId, 4)
  await requestRefund(world(), creator, tipId, 5)
  await workOnRefunds(world())
  const [first, second] = (await rowsOf(tipId)).map(({ id }) => id)
  const early = await ops('--retry', first, ...confirmed(first))
  t.is(early.code, 5, early.err)
  t.regex(early.err, /run this again in \d+ s/)
  const before = await alarms()
  await passSettleTime(tipId)
  await workOnRefunds(world())
  t.true((await alarms()) >= before + 2)
  t.is(refundsAtProvider(world(), tipId).length, 0, 'a worker sends nothing again')
  const listed = await ops()
  t.is(listed.code, 4)
  t.regex(listed.out, /sending: the provider shows no such refund/)
  world().fiat.fiatpay.faults.reset()
  t.regex((await ops('--give-back', second)).out, /not given back to the creator yet/)
  t.is((await ops('--give-back', second, '--apply', '--reason', 'x')).code, 3)
  t.is((await ops('--give-back', second, ...confirmed(second))).code, 0)
  t.is((await ops('--give-back', second, ...confirmed(second))).code, 1)
  t.is((await ops('--retry', first, ...confirmed(first))).code, 0)
  await finish(tipId)
  t.deepEqual(
    (await rowsOf(tipId)).map(({ status }) => status),
    ['completed', 'failed'],
  )
  t.is(refundsAtProvider(world(), tipId).length, 1)
  t.is(await shownOf(creator, tipId), 4)
  t.is((await ops()).code, 0)
  const audit = await world()
    .db('audit_log')
    .where({ subject: `refund:${first}` })
  t.like(audit, [{ actor: 'ngozi', action: 'refund retry' }])
})

test.serial('a refund that is sent again is looked for first, and one that failed is over', async (t) => {
  const ops = (...args: string[]) => runOpsScript(world(), 'refunds', ...args)
  const creator = await registerCreator(world())
  const lost = async (): Promise<{ tipId: string; id: string; kobo: bigint }> => {
    world().fiat.fiatpay.faults.setMode({ refunds: '500' })
    const tipId = await paidTip(world(), creator)
    await requestRefund(world(), creator, tipId, 4)
    await workOnRefunds(world())
    await passSettleTime(tipId)
    await workOnRefunds(world())
    world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
    const [{ id, kobo }] = await rowsOf(tipId)
    return { tipId, id, kobo }
  }
  /** The provider gets the request after all. */
  const arrive = async (id: string, kobo: bigint): Promise<void> => {
    const [{ provider_transaction: transaction }] = await world().db('refunds').where({ id })
    await composeRefunds(world().services.config).request({ transaction, kobo, note: id })
  }
  const again = await lost()
  t.is((await ops('--retry', again.id, '--apply', `--confirm=${again.id}`, '--reason', 'x')).code, 0)
  await arrive(again.id, again.kobo)
  await workOnRefunds(world())
  t.is(refundsAtProvider(world(), again.tipId).length, 1, 'not sent twice')
  endRefundAtProvider(world(), again.tipId, 'processed')
  await finish(again.tipId)
  t.is((await rowsOf(again.tipId))[0].status, 'completed')

  const other = await lost()
  await arrive(other.id, other.kobo - 100n)
  endRefundAtProvider(world(), other.tipId, 'failed')
  await finish(other.tipId)
  t.is((await rowsOf(other.tipId))[0].status, 'failed', 'whatever its amount, nothing went back')
})

test.serial('the provider’s own word ends a refund; a webhook only wakes', async (t) => {
  const { fiatpay } = world().fiat
  const { creator, tipId } = await acceptedRefund(4)
  t.is((await rowsOf(tipId))[0].send_state, 'sent')
  const before = await alarms()
  endRefundAtProvider(world(), tipId, 'needs-attention')
  await workOnRefunds(world())
  t.is((await rowsOf(tipId))[0].last_error, 'it waits for somebody at the pages of the provider')
  t.true((await alarms()) > before)
  const [{ id }] = await rowsOf(tipId)
  const refused = await runOpsScript(world(), 'refunds', '--give-back', id)
  t.is(refused.code, 1)
  t.regex(refused.err, /the provider shows it attention/)
  await setRows(world(), 'refunds', { id }, { due_at: new Date(Date.now() + 3_600_000) })
  await setRows(world(), 'fiat_intents', { id: tipId }, { asked_at: new Date(0) })
  fiatpay.webhooks.send('refund.processed', { transaction_reference: referenceOf(tipId) }, referenceOf(tipId))
  await until('the refund is due', async () => (await rowsOf(tipId))[0].due_at <= new Date())
  await workOnRefunds(world())
  t.is((await rowsOf(tipId))[0].status, 'processing', 'the claim of a webhook moves nothing')
  endRefundAtProvider(world(), tipId, 'failed')
  await workOnRefunds(world())
  t.is((await rowsOf(tipId))[0].status, 'failed')
  t.is(await readAvailableUsdc(world(), creator), 9.5)
})

test.serial('after a restore an unsent refund is looked up, then followed or sent', async (t) => {
  const giveBack = (id: string) =>
    runOpsScript(world(), 'refunds', '--give-back', id, '--apply', `--confirm=${id}`, '--reason', 'x')
  const acceptRestore = (age: string) =>
    world().db.raw(`update database_epoch set restored_at = clock_timestamp() - ?::interval`, [age])
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  await requestRefund(world(), creator, tipId, 4)
  await requestRefund(world(), creator, tipId, 3)
  const [{ id: sent, provider_transaction: transaction, kobo }, { id: unsent }] = await rowsOf(tipId)
  // The request of the lost time: the rows know nothing of it.
  const taken = await composeRefunds(world().services.config).request({ transaction, kobo, note: sent })
  await world()
    .db('refunds')
    .where({ intent_id: tipId })
    .update({ created_at: world().db.raw(`created_at - interval '2 hours'`) })
  t.teardown(() => world().db('database_epoch').update({ restored_at: null }))
  await acceptRestore('0')

  const refused = await giveBack(sent)
  t.is(refused.code, 1, refused.err)
  t.regex(refused.err, /the provider shows it started as/)
  t.is((await giveBack(unsent)).code, 5, 'the provider may still show it')
  await workOnRefunds(world())
  t.like((await rowsOf(tipId))[0], { send_state: 'sent', provider_id: taken.id })
  t.like((await rowsOf(tipId))[1], { send_state: 'not_sent', sends: 0 })
  t.is(refundsAtProvider(world(), tipId).length, 1, 'it was looked up, not sent again')

  endRefundAtProvider(world(), tipId, 'processed')
  world().fiat.fiatpay.faults.reset()
  await acceptRestore('1 hour')
  await finish(tipId)
  t.deepEqual(
    (await rowsOf(tipId)).map(({ status }) => status),
    ['completed', 'completed'],
  )
  t.is(refundsAtProvider(world(), tipId).length, 2)
  t.is(await readAvailableUsdc(world(), creator), 2.85)
})

test.serial('an accepted refund that is shown twice, or no more, alarms an operator', async (t) => {
  const { fiatpay } = world().fiat
  const { creator, tipId } = await acceptedRefund(2)
  const [{ id, provider_transaction: transaction, provider_id, kobo }] = await rowsOf(tipId)
  t.is((await rowsOf(tipId))[0].last_error, null)
  const own = fiatpay.refunds.find(tipId)
  if (own === undefined) throw new Error('no refund')
  fiatpay.refunds.write({ ...own, note: 'somebody changed it' })
  await world().db('refunds').where({ id }).update({ provider_id: null })
  await passSettleTime(tipId)
  const before = await alarms()
  await workOnRefunds(world())
  await workOnRefunds(world())
  t.is((await rowsOf(tipId))[0].last_error, 'the provider shows no such refund')
  t.is(await alarms(), before + 1, 'one alarm for what is known')
  const act = (action: string, ...more: string[]) => runOpsScript(world(), 'refunds', action, id, ...more)
  t.is((await runOpsScript(world(), 'refunds')).code, 4)
  t.regex((await act('--retry')).err, /the provider had it and shows it no more/)
  for (const action of ['--give-back', '--returned']) t.is((await act(action)).code, 0, action)
  fiatpay.refunds.write(own)
  await world().db('refunds').where({ id }).update({ provider_id })
  await workOnRefunds(world())
  t.is((await rowsOf(tipId))[0].last_error, null)
  await composeRefunds(world().services.config).request({ transaction, kobo, note: id })
  await workOnRefunds(world())
  t.regex((await rowsOf(tipId))[0].last_error, /shows other refunds of this payment/)
  t.is(await alarms(), before + 2)
  await workOnRefunds(world())
  t.regex((await rowsOf(tipId))[0].last_error, /shows other refunds of this payment/)
  t.is(await alarms(), before + 2, 'one alarm for what is known')
  endRefundAtProvider(world(), tipId, 'processed')
  fiatpay.setRefundOutcome(own, 'processed')
  await workOnRefunds(world())
  t.is((await runOpsScript(world(), 'refunds')).code, 4)
  const differences = await countAlerts(world(), 'collection_difference')
  await lookNow(world())
  // Of neither request the answer came.
  await world().db('refunds').where({ id }).update({ provider_id: null })
  t.is((await act('--returned', '--apply', `--confirm=${id}`, '--reason', 'both are paid')).code, 0)
  t.is((await runOpsScript(world(), 'refunds')).code, 0)
  await lookNow(world())
  await lookNow(world())
  t.deepEqual(await world().db('payment_returns').where({ provider_transaction: transaction }), [])
  t.is(await readAvailableUsdc(world(), creator), 7.6, 'the creator is debited once')
  t.is(await countAlerts(world(), 'collection_difference'), differences + 1)
  t.is((await world().db('collection_differences').where({ kind: 'sent_twice', ours: id })).length, 1)
  t.regex(
    (await runOpsScript(world(), 'disputes', '--compare')).out,
    /^refund \S+ {2}sent_twice {2}ours: refund_/m,
  )
  // As if neither was shown when it was ended as returned: the oldest is what was meant.
  await world().db('refunds').where({ id }).update({ provider_id: null })
  await world().db('collection_differences').where({ ours: id }).delete()
  await lookNow(world())
  t.is((await world().db('collection_differences').where({ kind: 'sent_twice', ours: id })).length, 1)
})

test.serial(
  'after a refund was ended as returned, a later one at the provider’s pages is debited',
  async (t) => {
    const { creator, tipId } = await acceptedRefund(2)
    const [{ id, provider_transaction: transaction, kobo }] = await rowsOf(tipId)
    const own = world().fiat.fiatpay.refunds.find(tipId)
    if (own === undefined) throw new Error('no refund')
    // The provider shows it no more.
    world().fiat.fiatpay.refunds.write({ ...own, transaction: 1 })
    await passSettleTime(tipId)
    await workOnRefunds(world())
    const given = ['--apply', `--confirm=${id}`, '--reason', 'its payer has it']
    t.is((await runOpsScript(world(), 'refunds', '--returned', id, ...given)).code, 0)
    const refundByHand = async () => {
      await composeRefunds(world().services.config).request({ transaction, kobo, note: 'by hand' })
      endRefundAtProvider(world(), tipId, 'processed')
      await lookNow(world())
      await lookNow(world())
      return readAvailableUsdc(world(), creator)
    }
    t.is(await refundByHand(), 7.6, 'what is shown is what was returned')
    t.is(await refundByHand(), 5.7, 'a second one is another')
    const before = await countAlerts(world(), 'collection_difference')
    world().fiat.fiatpay.setRefundOutcome(own, 'processed')
    await lookNow(world())
    t.is(await countAlerts(world(), 'collection_difference'), before + 1, 'paid after all: our loss')
    t.is(await readAvailableUsdc(world(), creator), 5.7)
  },
)

test.serial(
  'a refund that was accepted and is shown no more is given back; paid after all it is debited',
  async (t) => {
    const { fiatpay } = world().fiat
    const { creator, tipId } = await acceptedRefund(2)
    const [{ id }] = await rowsOf(tipId)
    const own = fiatpay.refunds.find(tipId)
    if (own === undefined) throw new Error('no refund')
    fiatpay.refunds.write({ ...own, note: 'somebody changed it' })
    await world().db('refunds').where({ id }).update({ provider_id: null })
    const giveBack = () =>
      runOpsScript(world(), 'refunds', '--give-back', id, '--apply', `--confirm=${id}`, '--reason', 'x')
    t.is((await giveBack()).code, 5, 'the provider may still show it')
    await passSettleTime(tipId)
    await workOnRefunds(world())
    const given = await giveBack()
    t.is(given.code, 0, given.err)
    t.like((await rowsOf(tipId))[0], { status: 'failed', send_state: 'sent', last_error: null })
    t.is(await readAvailableUsdc(world(), creator), 9.5)
    fiatpay.refunds.write(own)
    fiatpay.setRefundOutcome(own, 'processed')
    await lookNow(world())
    t.is(await readAvailableUsdc(world(), creator), 7.6)
  },
)

test.serial('a float that is too low holds a refund up, and it is sent when there is money', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  const balanceKobo = world().fiat.fiatpay.balanceKobo
  const setBalance = (kobo: number) =>
    world().fiat.fiatpay.topUps.write({ id: Date.now(), reference: String(kobo), amountKobo: kobo })
  setBalance(-balanceKobo)
  const before = await alarms()
  await requestRefund(world(), creator, tipId)
  await workOnRefunds(world())
  t.like((await rowsOf(tipId))[0], {
    send_state: 'not_sent',
    sends: 0,
    last_error: 'fiatpay refuses our account: insufficient_balance',
  })
  t.true((await alarms()) > before)
  setBalance(balanceKobo)
  await finish(tipId)
  t.is((await rowsOf(tipId))[0].status, 'completed')
})

test.serial('the provider refuses a refund under a dispute, and the creator reads why', async (t) => {
  const { fiatpay } = world().fiat
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  const control = (path: string, body: object) =>
    fetch(`${new URL(world().env['FIATPAY_URL'] ?? '').origin}/dev/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  t.is((await control(`fiatpay/charges/${referenceOf(tipId)}`, { outcome: 'disputed' })).status, 200)
  await requestRefund(world(), creator, tipId)
  await finish(tipId)
  t.like((await listRefunds(world(), creator, tipId))[0], {
    status: 'failed',
    failureReason: 'This transaction has an open dispute',
  })
  t.is(fiatpay.log().refunds.filter(({ reference }) => reference === referenceOf(tipId)).length, 0)
})

test.serial('what was credited goes back from each payment, what is in suspense stays there', async (t) => {
  const suspense = (...args: string[]) => runOpsScript(world(), 'suspense', ...args)
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator, { kobo: 1_600_000 })
  payFiatIntent(world(), tipId, 700_000)
  await settleIntentNow(world(), tipId)
  const payments = await world().db('fiat_payments').where({ intent_id: tipId }).orderBy('paid_at')
  const [first, second] = payments.map(({ provider_transaction }) => provider_transaction)
  t.is((await suspense('--assign', second, '--reason', 'x', '--apply')).code, 0)
  const credited = await readAvailableUsdc(world(), creator)
  t.true(credited > 9.5)
  const { body } = await requestRefund(world(), creator, tipId)
  t.is(body.refund.amountUSDC, credited)
  t.is((await rowsOf(tipId)).length, 2)
  await finish(tipId)
  t.is((await listRefunds(world(), creator, tipId)).length, 1)
  t.like((await listRefunds(world(), creator, tipId))[0], {
    id: body.refund.id,
    status: 'paid',
    amountUSDC: credited,
  })
  t.is(await readAvailableUsdc(world(), creator), 0)
  t.deepEqual(
    refundsAtProvider(world(), tipId)
      .map(({ amountKobo }) => amountKobo)
      .toSorted((a, b) => a - b),
    [700_000, 1_520_000],
  )
  // The surplus of the first payment is refunded apart from what its creator gave back.
  const surplus = await suspense('--refund', first, '--apply', `--confirm=${first}`, '--reason', 'x')
  t.is(surplus.code, 0, surplus.err)
  t.is(
    refundsAtProvider(world(), tipId).reduce((sum, { amountKobo }) => sum + amountKobo, 0),
    2_300_000,
  )
})

test.serial('of a hundred refunds at once, with withdrawals, no more than was paid goes back', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  await paidTip(world(), creator)
  const [payment] = await world().db('fiat_payments').where({ intent_id: tipId })
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      n % 10 === 0
        ? requestWithdrawal(world(), creator, { amountUSDC: 3 })
        : requestRefund(world(), creator, tipId, n % 3 === 0 ? undefined : 2.5),
    ),
  )
  t.true(answers.every(({ status }) => [200, 400, 409].includes(status)))
  await finish(tipId)
  const sent = refundsAtProvider(world(), tipId).reduce((sum, { amountKobo }) => sum + amountKobo, 0)
  const rows = await rowsOf(tipId)
  t.is(
    BigInt(sent),
    rows.reduce((sum, { kobo }) => sum + kobo, 0n),
  )
  t.true(BigInt(sent) <= payment.kobo)
  t.true(rows.length > 0 && rows.every(({ status }) => status === 'completed'))
})

test.serial('a refund costs its naira at the locked or the current rate, whichever is more', async (t) => {
  const creator = await registerCreator(world())
  const fall = await paidTip(world(), creator)
  const rise = await paidTip(world(), creator)
  const undoFall = await acceptRate(world(), 1430)
  const atFall = await requestRefund(world(), creator, fall)
  t.like(atFall.body.refund, { amountNGN: 15_200, amountUSDC: 10.62937 })
  await finish(fall)
  await undoFall()
  const undoRise = await acceptRate(world(), 1780)
  const half = await requestRefund(world(), creator, rise, 5)
  t.like(half.body.refund, { amountNGN: 7600, amountUSDC: 4.75 })
  await finish(rise)
  await undoRise()
  t.is(await readAvailableUsdc(world(), creator), 3.62063)
})

/** What somebody who plays with the rate does. A refund is of the first tip, as much of it as the balance covers. */
const plays = {
  pay: async (thief: TestCreator) => paidTip(world(), thief),
  withdraw: async (thief: TestCreator) => requestWithdrawal(world(), thief, { amountUSDC: 9.5 }),
  refund: async (thief: TestCreator, tipId: string) => {
    const whole = await requestRefund<{ error?: string }>(world(), thief, tipId)
    if (whole.body.error !== 'Insufficient Balance') return whole
    return requestRefund(world(), thief, tipId, 8.5)
  },
}

test.serial('who pays, withdraws and refunds gains nothing by the rate, in no order', async (t) => {
  for (const order of [
    ['pay 1600', 'withdraw 1780', 'pay 1430', 'refund 1430'],
    ['pay 1600', 'pay 1430', 'refund 1430', 'withdraw 1780'],
    ['pay 1430', 'pay 1600', 'withdraw 1780', 'refund 1780'],
    ['pay 1780', 'pay 1430', 'refund 1600', 'withdraw 1600'],
  ]) {
    const thief = await registerCreator(world())
    const tips: string[] = []
    for (const act of order) {
      const [what, rate] = act.split(' ') as [keyof typeof plays, string]
      const undo = await acceptRate(world(), Number(rate))
      const done = await plays[what](thief, tips[0] ?? '')
      if (typeof done === 'string') tips.push(done)
      await undo()
    }
    const [refund] = await listRefunds(world(), thief, tips[0] ?? '')
    const rate = Number(order.find((act) => act.startsWith('refund'))?.split(' ')[1])
    // Rounded down twice.
    t.true((refund?.amountUSDC ?? 0) + 2e-6 > (refund?.amountNGN ?? 0) / rate, order.join())
    await finish(tips[0] ?? '')
  }
})

test.serial('no tip is given back after 30 days, nor 72 hours after a change of factors', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  const code = async () => (await requestRefund<{ code: string }>(world(), creator, tipId)).body.code
  await world().db('users').where({ id: creator.user.id }).update({ factors_changed_at: new Date() })
  t.is(await code(), 'recently_changed')
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  await setRows(world(), 'users', { id: creator.user.id }, { factors_changed_at: ago(73) })
  await setRows(world(), 'fiat_payments', { intent_id: tipId }, { paid_at: ago(30 * 24 + 1) })
  t.is(await code(), 'refund_too_late')
  await setRows(world(), 'fiat_payments', { intent_id: tipId }, { paid_at: ago(30 * 24 - 1) })
  // The rate of the tests before may still be the one that it was paid at.
  t.is((await requestRefund(world(), creator, tipId, 5)).status, 200)
  await finish(tipId)
})

test.serial('a refund needs a step-up: a factor, or under `recommended` a mailed code', async (t) => {
  type Refused = { code: string }
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  const ask = async (body: object) => {
    const path = `/creators/tips/${tipId}/refund`
    const answer = await world().request<Refused>('POST', path, { session: creator.session, body })
    return answer.status === 200 ? 'done' : answer.body.code
  }
  t.is(await ask({ amountUSD: 1 }), 'done', 'under `contract`, with nothing set up')
  const { secret } = await addTotp(world(), creator)
  await ageFactors(world(), creator, 73)
  await world()
    .db('users')
    .where({ id: creator.user.id })
    .update({ factors_changed_at: new Date(Date.now() - 73 * 3_600_000) })
  t.is(await ask({ amountUSD: 100 }), 'invalid_amount', 'no code is mailed for what is refused')
  t.is(await ask({ amountUSD: 2 }), 'step_up_required')
  t.is(await ask({ amountUSD: 2, totp: '000000' }), 'invalid_code')
  const code = await stepUpCode(world(), creator.email)
  t.is(await ask({ amountUSD: 3, code }), 'invalid_code', 'the code is for another amount')
  t.is(await ask({ amountUSD: 2, code }), 'done')
  t.is(await ask({ amountUSD: 2, totp: await nextCode(world(), creator, secret) }), 'done')

  const other = await registerCreator(world())
  const input = { id: await paidTip(world(), other), amountUSD: 1 }
  const { services } = world()
  const recommended = { ...services, config: { ...services.config, guards: 'recommended' as const } }
  const give = (code?: string) =>
    refundTip(recommended, new ExchangeRates(services), other.user.id, { ...input, code }, undefined)
  await t.throwsAsync(give(), { message: 'Confirmation required' })
  const { refund } = await give(await stepUpCode(world(), other.email))
  t.is(refund.status, 'pending')
  await finish(tipId)
  await finish(input.id)
})
