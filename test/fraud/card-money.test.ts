import test from 'ava'
import { releaseCardReserves } from '../../src/fiat/settlement/card-reserve.js'
import { owesReceivable } from '../../src/ledger/receivables/read-receivables.js'
import { type Person, registerCreator } from '../helpers/make/creators.js'
import { disputeTip, endDispute } from '../helpers/make/fiat/disputes.js'
import {
  createFiatIntent,
  payFiatIntent,
  settleIntentNow,
  settlementBatch,
} from '../helpers/make/fiat/fiat-tips.js'
import { endRefundAtProvider, requestRefund, workOnRefunds } from '../helpers/make/fiat/refunds.js'
import {
  countExecutions,
  createWithdrawal,
  requestWithdrawal,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { as } from '../helpers/servers/roles.js'
import { runBatch, setRows, useWorld } from '../helpers/servers/world.js'
import { listBrokenInvariants } from '../ledger/support.js'

/** As the operations guide recommends. */
const world = useWorld(test, {
  fiat: true,
  env: { CARD_RESERVE_DAYS: '14', IDENTITY_LIMITS_NGN: 'young:50000' },
})
test.beforeEach(() => world().fiat.fiatpay.faults.setFault({ webhooks: { copies: 0 } }))
test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

async function payTip(person: Person, kobo?: number): Promise<string> {
  const { intentId } = await createFiatIntent(world(), { creatorId: person.user.id, amount: 10 })
  payFiatIntent(world(), intentId, kobo)
  await settleIntentNow(world(), intentId)
  return intentId
}

async function balanceOf({ session }: Person) {
  type Body = { balance: { availableUSDC: number; pendingUSDC: number } }
  const { availableUSDC, pendingUSDC } = (
    await world().request<Body>('GET', '/creators/balance', { session })
  ).body.balance
  return { available: availableUSDC, pending: pendingUSDC }
}

async function linesOf({ session }: Person) {
  type Line = { account: string; type: string; amountUSDC: number; availableAt: string | null }
  const answer = await world().request<{ transactions: Line[] }>('GET', '/creators/transactions', { session })
  return answer.body.transactions
}

/** Lets the days of all card money pass. */
const passDays = () =>
  world()
    .db('card_reserves')
    .whereNotNull('due_at')
    .update({ due_at: new Date(0), available_at: new Date(0) })

test.serial('a stolen card does not become bank money before its days are over', async (t) => {
  const thief = await registerCreator(world())
  const before = Date.now()
  const intentId = await payTip(thief)
  t.deepEqual(await balanceOf(thief), { available: 0, pending: 9.5 })
  const refused = await requestWithdrawal<{ error: string }>(world(), thief, { amountUSDC: 9.5 })
  t.like(refused, { status: 400, body: { error: 'Insufficient Balance' } })
  await runBatch(settlementBatch(world()))
  await sendDuePayouts(world())
  t.is((await world().db('withdrawals').where({ user_id: thief.user.id })).length, 0)
  t.deepEqual(await balanceOf(thief), { available: 0, pending: 9.5 })
  const [line, ...others] = await linesOf(thief)
  t.like(line, { account: 'pending', type: 'reserve', amountUSDC: 9.5 })
  t.is(others.length, 0)
  const days = (new Date(line?.availableAt ?? 0).getTime() - before) / 86_400_000
  t.true(days > 13.99 && days < 14.01, 'the creator sees the day')
  // The tip itself is shown at once.
  t.is((await world().db('tips').where({ id: intentId }).first()).status, 'confirmed')

  await passDays()
  await Promise.all([1, 2].map(() => settlementBatch(world())()))
  await runBatch(settlementBatch(world()))
  t.deepEqual(await balanceOf(thief), { available: 9.5, pending: 0 })
  const moved = (await linesOf(thief)).filter(({ type }) => type === 'post')
  t.deepEqual(moved.map(({ amountUSDC, availableAt }) => [amountUSDC, availableAt]).sort(), [
    [-9.5, null],
    [9.5, null],
  ])
  const { reference } = await createWithdrawal(world(), thief, { amountUSDC: 9.5 })
  await sendDuePayouts(world())
  t.is(countExecutions(world(), reference), 1)
})

test.serial('a card tip that its owner calls back within its days leaves the thief nothing', async (t) => {
  const thief = await registerCreator(world())
  const intentId = await payTip(thief)
  await endDispute(world(), disputeTip(world(), intentId), 'lost')
  t.deepEqual(await balanceOf(thief), { available: 0, pending: 9.5 })
  await passDays()
  await runBatch(settlementBatch(world()))
  t.deepEqual(await balanceOf(thief), { available: 0, pending: 0 })
  t.false(await owesReceivable(world().db, thief.user.id), 'and the platform lost nothing')
})

test.serial(
  'card money that is assigned in two parts is pending, and goes with a refund of the tip',
  async (t) => {
    const ada = await registerCreator(world())
    const intentId = await payTip(ada, 500_000)
    const { provider_transaction: payment } = await world()
      .db('fiat_payments')
      .where({ intent_id: intentId })
      .first()
    const dispute = disputeTip(world(), intentId, 250_000)
    const assign = () => runOpsScript(world(), 'suspense', '--assign', payment, '--reason', 'x', '--apply')
    await endDispute(world(), dispute, 'lost')
    t.is((await assign()).code, 0)
    await endDispute(world(), dispute, 'won')
    t.is((await assign()).code, 0)
    t.deepEqual(await balanceOf(ada), { available: 0, pending: 3.125 })
    t.is((await requestRefund(world(), ada, intentId)).status, 200)
    t.deepEqual(await balanceOf(ada), { available: 0, pending: 0 })
  },
)

test.serial('what a bank transfer paid is available at once', async (t) => {
  const ada = await registerCreator(world(), { fiatCollection: 'bank_transfer' })
  await payTip(ada)
  t.deepEqual(await balanceOf(ada), { available: 9.5, pending: 0 })
  t.deepEqual(
    (await linesOf(ada)).map(({ account, type, availableAt }) => [account, type, availableAt]),
    [['available', 'credit', null]],
  )
})

test.serial('a worker that dies around the commit makes card money available once', async (t) => {
  const services = as('settlement', world().services)
  const ada = await registerCreator(world())
  const dies = () => Promise.reject(new Error('killed'))
  await payTip(ada)
  await passDays()
  t.is(await releaseCardReserves({ ...services, transact: dies }), 1)
  t.deepEqual(await balanceOf(ada), { available: 0, pending: 9.5 })
  t.is(await releaseCardReserves(services), 0, 'the lease of the dead worker holds')
  await passDays()
  t.is(
    await releaseCardReserves({
      ...services,
      transact: (work) => services.transact(work).then(dies),
    }),
    1,
  )
  t.deepEqual(await balanceOf(ada), { available: 9.5, pending: 0 })
  await passDays()
  t.is(await releaseCardReserves(services), 0)
  // As if the row had survived the commit: the ledger posts a reserve once.
  await world()
    .db('card_reserves')
    .update({ due_at: new Date(0) })
  t.true((await releaseCardReserves(services)) > 0)
  t.deepEqual(await balanceOf(ada), { available: 9.5, pending: 0 })
})

test.serial('card money that an operator assigns is pending until the same day', async (t) => {
  const creator = await registerCreator(world())
  const assign = async (intentId: string) => {
    const { provider_transaction: payment } = await world()
      .db('fiat_payments')
      .where({ intent_id: intentId })
      .first()
    const run = await runOpsScript(
      world(),
      'suspense',
      '--assign',
      payment,
      '--reason',
      'gave less',
      '--apply',
    )
    t.is(run.code, 0, run.err)
  }
  await assign(await payTip(creator, 760_000))
  const { available, pending } = await balanceOf(creator)
  t.is(available, 0)
  t.true(pending > 0)
  const [line] = await linesOf(creator)
  t.true(line !== undefined && Date.parse(line.availableAt ?? '') > Date.now() + 13 * 86_400_000)
  // Money that was paid long ago is available at once.
  const later = await payTip(creator, 760_000)
  await setRows(world(), 'fiat_payments', { intent_id: later }, { available_at: new Date(0) })
  await assign(later)
  t.true((await balanceOf(creator)).available > 0)
  await passDays()
  await runBatch(settlementBatch(world()))
  t.is((await balanceOf(creator)).pending, 0)
})

test.serial('a tip is given back from the reserve of its payment, where a failed one returns', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  t.teardown(() => world().fiat.fiatpay.faults.reset())
  const creator = await registerCreator(world())
  const tipId = await payTip(creator)
  const refund = async (amount?: number) => {
    const { status } = await requestRefund(world(), creator, tipId, amount)
    t.is(status, 200)
    await workOnRefunds(world())
  }
  const end = async (outcome: 'processed' | 'failed') => {
    endRefundAtProvider(world(), tipId, outcome)
    await workOnRefunds(world())
  }
  await refund(4)
  t.deepEqual(await balanceOf(creator), { available: 0, pending: 5.7 })
  await end('processed')
  await refund(4)
  t.deepEqual(await balanceOf(creator), { available: 0, pending: 1.9 })
  await end('failed')
  t.deepEqual(
    await balanceOf(creator),
    { available: 0, pending: 5.7 },
    'a failed refund is no way out of the reserve',
  )
  await passDays()
  while ((await releaseCardReserves(as('settlement', world().services))) > 0);
  t.deepEqual(await balanceOf(creator), { available: 5.7, pending: 0 })
  await refund()
  await end('processed')
  t.deepEqual(await balanceOf(creator), { available: 0, pending: 0 })
})

test.serial('many refunds, and the end of the reserve at the same time, move each dollar once', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await payTip(creator)
  await passDays()
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, () => requestRefund(world(), creator, tipId, 2)),
    releaseCardReserves(as('settlement', world().services)),
    releaseCardReserves(as('settlement', world().services)),
  ])
  t.is(answers.filter((answer) => typeof answer === 'object' && answer.status === 200).length, 5)
  while ((await releaseCardReserves(as('settlement', world().services))) > 0);
  t.deepEqual(await balanceOf(creator), { available: 0, pending: 0 })
  await workOnRefunds(world())
  await workOnRefunds(world())
})
