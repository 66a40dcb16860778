import test from 'ava'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { registerCreator } from '../../helpers/make/creators.js'
import { disputeTip, endDispute, lookNow } from '../../helpers/make/fiat/disputes.js'
import { readAvailableUsdc } from '../../helpers/make/fiat/fiat-tips.js'
import {
  endRefundAtProvider,
  paidTip,
  refundsAtProvider,
  requestRefund,
  workOnRefunds,
} from '../../helpers/make/fiat/refunds.js'
import { readBalance } from '../../helpers/make/withdrawals.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true })

test.afterEach.always('the books hold', async (t) => t.true((await checkBooks(world().db)).holds))

async function finish(tipId: string): Promise<void> {
  await until('the refunds have ended', async () => {
    await workOnRefunds(world())
    return (
      (await world().db('refunds').where({ intent_id: tipId }).whereNull('ended_at').first()) === undefined
    )
  })
}
const returns = (tipId: string) =>
  world()
    .db('payment_returns as r')
    .join('fiat_payments as p', 'p.provider_transaction', 'r.provider_transaction')
    .where({ intent_id: tipId })
    .select('r.kind', 'r.credited_kobo')
const shown = async (tipId: string) =>
  (await world().db('tips').where({ id: tipId }).first()).fiat_details.refundedAmount

test.serial('what a creator gives back is no loss again: a lost dispute takes the rest', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  const { kobo } = await world().db('fiat_payments').where({ intent_id: tipId }).first()
  const first = await requestRefund(world(), creator, tipId, 4)
  await finish(tipId)
  await lookNow(world())
  t.deepEqual(await returns(tipId), [])
  t.is(await shown(tipId), 4)

  const dispute = disputeTip(world(), tipId)
  await lookNow(world())
  t.is(await readAvailableUsdc(world(), creator), 0, 'the dispute holds the rest')
  t.is((await requestRefund<{ code: string }>(world(), creator, tipId, 1)).body.code, 'tip_disputed')
  await endDispute(world(), dispute, 'lost')
  const lost = await returns(tipId)
  t.like(lost, [
    { kind: 'dispute', credited_kobo: kobo - BigInt(Math.round(first.body.refund.amountNGN * 100)) },
  ])
  t.is(await shown(tipId), 10)
  t.is((await requestRefund<{ code: string }>(world(), creator, tipId)).body.code, 'tip_refunded')
})

test.serial('what was refunded at the provider’s pages is gone; the creator refunds the rest', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  const { kobo, provider_transaction } = await world().db('fiat_payments').where({ intent_id: tipId }).first()
  const taken = await fetch(`${world().env['FIATPAY_URL']}/refund`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world().env['FIATPAY_SECRET_KEY']}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ transaction: provider_transaction, amount: 380_000 }),
  })
  t.is(taken.status, 200)
  await until('it is booked', async () => {
    await lookNow(world())
    return (await returns(tipId)).length === 1
  })
  const shownBefore = await shown(tipId)
  t.true(shownBefore > 2.4 && shownBefore < 2.6)
  const { body } = await requestRefund(world(), creator, tipId)
  t.is(BigInt(Math.round(body.refund.amountNGN * 100)), kobo - 380_000n)
  await finish(tipId)
  t.is(await readAvailableUsdc(world(), creator), 0)
  t.is(await shown(tipId), 10)
  await lookNow(world())
  t.is((await returns(tipId)).length, 1)
  t.is(
    refundsAtProvider(world(), tipId).reduce((sum, { amountKobo }) => sum + amountKobo, 0),
    Number(kobo),
  )
})

test.serial('a refund that failed and is paid after all is booked as gone, once', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  await requestRefund(world(), creator, tipId)
  await workOnRefunds(world())
  endRefundAtProvider(world(), tipId, 'failed')
  await finish(tipId)
  t.is(await readAvailableUsdc(world(), creator), 9.5)
  endRefundAtProvider(world(), tipId, 'processed')
  await lookNow(world())
  t.like(await returns(tipId), [{ kind: 'refund', credited_kobo: 1_520_000n }])
  t.is(await readAvailableUsdc(world(), creator), 0)
  await lookNow(world())
  t.is((await returns(tipId)).length, 1)
})

test.serial('a refund that fails while its tip is disputed leaves the money held', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  await requestRefund(world(), creator, tipId)
  const dispute = disputeTip(world(), tipId)
  await lookNow(world())
  await finish(tipId)
  t.like(await world().db('refunds').where({ intent_id: tipId }).first(), { status: 'failed' })
  t.deepEqual(await readBalance(world(), creator), { availableUSDC: 0, heldUSDC: 9.5 })
  await endDispute(world(), dispute, 'won')
  t.deepEqual(await readBalance(world(), creator), { availableUSDC: 9.5, heldUSDC: 0 })
})

test.serial('a dispute lost while a refund is open is booked once it is known what is left', async (t) => {
  const creator = await registerCreator(world())
  const tipId = await paidTip(world(), creator)
  await requestRefund(world(), creator, tipId, 4)
  await endDispute(world(), disputeTip(world(), tipId), 'lost')
  t.deepEqual(await returns(tipId), [])
  t.is((await requestRefund<{ code: string }>(world(), creator, tipId, 1)).body.code, 'tip_disputed')
  await finish(tipId)
  t.like(await world().db('refunds').where({ intent_id: tipId }).first(), { status: 'failed' })
  t.deepEqual(await readBalance(world(), creator), { availableUSDC: 0, heldUSDC: 9.5 })
  await lookNow(world())
  t.like(await returns(tipId), [{ kind: 'dispute', credited_kobo: 1_520_000n }])
  t.deepEqual(await readBalance(world(), creator), { availableUSDC: 0, heldUSDC: 0 })
  const mails = await world().db('emails').where({ recipient: creator.email, kind: 'dispute-lost' })
  t.is(mails.length, 1)
})
