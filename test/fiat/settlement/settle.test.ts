import test from 'ava'
import { mailText } from '../../../scripts/kit/mail-text.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { openAddress } from '../../../src/mail/queue-email.js'
import { countObserved } from '../../helpers/count-observed.js'
import { follow } from '../../helpers/http/stream-reader.js'
import { differingSums } from '../../helpers/make/confirmed-tips.js'
import { registerCreator } from '../../helpers/make/creators.js'
import { reverseTip } from '../../helpers/make/fiat/disputes.js'
import {
  acceptRate,
  createFiatIntent,
  expireFiatIntent,
  failCharge,
  listSuspense,
  payFiatIntent,
  readAvailableUsdc,
  readFiatStatus,
  readPlatformBalance,
  settleIntentNow,
} from '../../helpers/make/fiat/fiat-tips.js'
import { listTips } from '../../helpers/make/tips.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true })

test.afterEach.always('the ledger is consistent', async (t) => {
  const { holds } = await checkBooks(world().db)
  t.true(holds)
  t.deepEqual(await differingSums(world().db), [], 'the daily figures match the tips')
})

test.serial('a paid checkout is completed, credited, streamed and listed', async (t) => {
  const creator = await registerCreator(world())
  const stream = await follow(t, world().url, creator.wallet)
  const intent = await createFiatIntent(world(), {
    creatorId: creator.user.id,
    amount: 10,
    senderName: 'Bola',
    memo: 'well done',
    payerEmail: 'bola@example.com',
  })
  t.regex(intent.checkoutUrl ?? '', /^http.*\/checkout\/fiatpay-[0-9a-f]{32}$/)
  t.is(intent.paymentInstructions, null, 'absent is null where the contract names the field')
  const [pending] = await listTips(world(), creator.wallet)
  t.like(pending, {
    signature: intent.intentId,
    recipient: creator.wallet,
    recipient_id: creator.user.id,
    sender: 'Bola',
    sender_id: null,
    amount: 10,
    receivedAmount: null,
    tokenSymbol: 'FIAT',
    message: 'well done',
    status: 'pending',
    valueUsd: 10,
    isStable: true,
    fiatDetails: { platformFee: 0.5, finalAmountUsd: 9.5, amountNgn: 15_200 },
  })
  await settleIntentNow(world(), intent.intentId)
  t.is(await readFiatStatus(world(), intent.intentId), 'requires_action')

  payFiatIntent(world(), intent.intentId)
  await settleIntentNow(world(), intent.intentId)
  t.is(await readFiatStatus(world(), intent.intentId), 'completed')
  t.is(await countObserved(world().services.metrics.nairaCreditSeconds), 1)
  t.is(await readAvailableUsdc(world(), creator), 9.5)
  await until('the event is on the stream', () => stream.tips.length === 1)
  t.like(stream.tips[0]?.data, {
    type: 'tip',
    amount: 10,
    receivedAmount: 9.5,
    tokenSymbol: 'FIAT',
    sender: 'Bola',
    message: 'well done',
  })
  const [listed] = await listTips(world(), creator.user.id)
  t.like(listed, { ...pending, status: 'confirmed', receivedAmount: 9.5 })
  const { body } = await world().request<{ transactions: unknown[] }>(
    'GET',
    '/creators/transactions',
    creator,
  )
  t.is(body.transactions.length, 1)
  t.like(body.transactions[0], { type: 'credit', reference: intent.intentId, amountUSDC: 9.5 })
  const csv = await world().request<string>('GET', '/creators/transactions?format=csv', creator)
  t.true(csv.body.includes(intent.intentId))
})

test.serial('a charge of NGN 1,600 for "1,000 USD" credits and shows 1 USD', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), {
    creatorId: creator.user.id,
    amount: 1000,
    amountNgn: 1600,
  })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.is(await readAvailableUsdc(world(), creator), 1)
  const [tip] = await listTips(world(), creator.user.id)
  t.like(tip, {
    amount: 1.05,
    valueUsd: 1.05,
    receivedAmount: 1,
    fiatDetails: { platformFee: 0.05, finalAmountUsd: 1, amountNgn: 1600 },
  })
})

test.serial('of a given charge above the promise the platform takes 5 %, and the tip shows it', async (t) => {
  const creator = await registerCreator(world())
  const before = await readPlatformBalance(world(), 'platform_fee', 'USDC')
  const { intentId } = await createFiatIntent(world(), {
    creatorId: creator.user.id,
    amount: 10,
    amountNgn: 1_000_000,
  })
  const [pending] = await listTips(world(), creator.user.id)
  t.like(pending, {
    amount: 10,
    fiatDetails: { platformFee: 0.5, finalAmountUsd: 9.5, amountNgn: 1_000_000 },
  })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  // Worth 625: 9.5 in full, and 95 % of the other 615.5.
  t.is(await readAvailableUsdc(world(), creator), 594.225)
  t.is((await readPlatformBalance(world(), 'platform_fee', 'USDC')) - before, 30_775_000n)
  const [tip] = await listTips(world(), creator.user.id)
  t.like(tip, {
    status: 'confirmed',
    amount: 625,
    receivedAmount: 594.225,
    fiatDetails: { platformFee: 30.775, finalAmountUsd: 594.225, amountNgn: 1_000_000 },
  })
})

test.serial('the limits of platform and creator apply to the worth of a given charge', async (t) => {
  const creator = await registerCreator(world(), { minTipUsd: 5, maxTipUsd: 50 })
  const create = (body: object) =>
    world().request('POST', '/payments/fiat/intent', { body: { creatorId: creator.user.id, ...body } })
  for (const amountNgn of [1600, 7500, 80_900, 1_000_000]) {
    const { status, body } = await create({ amount: 10, amountNgn })
    t.is(`${status} ${body.error}`, '400 Invalid amount', String(amountNgn))
  }
  // The smallest tip charges the naira of 4.75. The rate may move by 1 % between the quote and the intent.
  for (const amountNgn of [7530, 7600, 80_000, 80_700])
    t.is((await create({ amount: 10, amountNgn })).status, 200)
})

test.serial('a payment counts although a later one of the same charge is reversed', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  payFiatIntent(world(), intentId)
  payFiatIntent(world(), intentId)
  reverseTip(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.is(await readFiatStatus(world(), intentId), 'completed')
  t.is(await readAvailableUsdc(world(), creator), 9.5)
  t.deepEqual(await listSuspense(world(), intentId), [], 'what is gone is not recorded')
})

test.serial('a payment short by over 1 % waits in suspense, and a full one still completes', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const before = await readPlatformBalance(world(), 'suspense', 'NGN')
  payFiatIntent(world(), intentId, 1_504_799)
  await settleIntentNow(world(), intentId)
  const status = () => world().request('GET', `/payments/fiat/status?intentId=${intentId}`)
  t.like((await status()).body, { status: 'failed', receivedNgn: 15_047.99 })
  t.deepEqual(await listSuspense(world(), intentId), [['underpaid', 1_504_799n]])
  t.is(await readAvailableUsdc(world(), creator), 0)

  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.like((await status()).body, { status: 'completed', receivedNgn: undefined })
  t.is(await readAvailableUsdc(world(), creator), 9.5)
  t.is((await readPlatformBalance(world(), 'suspense', 'NGN')) - before, 1_504_799n)
})

test.serial('a payment short by at most 1 % completes the tip and credits what arrived', async (t) => {
  const creator = await registerCreator(world())
  for (const [kobo, credited] of [
    [1_504_800, 9.405],
    [1_519_999, 9.499993],
  ] as const) {
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    payFiatIntent(world(), intentId, kobo)
    await settleIntentNow(world(), intentId)
    t.is(await readFiatStatus(world(), intentId), 'completed')
    t.deepEqual(await listSuspense(world(), intentId), [])
    const [tip] = await listTips(world(), creator.user.id)
    t.like(tip, { receivedAmount: credited })
    t.like(tip?.fiatDetails, { amountNgn: kobo / 100 } as object)
  }
  t.is(await readAvailableUsdc(world(), creator), 18.904993)
})

async function mailsTo(email: string) {
  const rows = await world().db('emails').whereNotNull('sealed_recipient').orderBy('id')
  const { dataKeys } = world().services.config
  return rows.filter((row) => openAddress(dataKeys, row.sealed_recipient) === email)
}
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

test.serial('the payer of too little is told what happened and what to do', async (t) => {
  const creator = await registerCreator(world())
  const payerEmail = 'short@example.com'
  const body = { creatorId: creator.user.id, amount: 10, payerEmail }
  const { intentId } = await createFiatIntent(world(), body)
  payFiatIntent(world(), intentId, 1_000_000)
  await settleIntentNow(world(), intentId)
  await settleIntentNow(world(), intentId)
  const [mail, ...more] = await mailsTo(payerEmail)
  t.is(more.length, 0)
  t.is(mail.kind, 'short-payment')
  const text = flat(mailText(mail))
  for (const part of ['₦15,200.00 were asked for', '₦10,000.00', 'have it sent back to you', intentId])
    t.true(text.includes(part), part)
  const hidden = await createFiatIntent(world(), {
    ...body,
    payerEmail: 'hidden@example.com',
    isAnonymous: true,
  })
  payFiatIntent(world(), hidden.intentId, 1_000_000)
  await settleIntentNow(world(), hidden.intentId)
  t.deepEqual(await mailsTo('hidden@example.com'), [])
})

test.serial("an overpayer's receipt names both sums", async (t) => {
  const creator = await registerCreator(world())
  const payerEmail = 'over@example.com'
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10, payerEmail })
  payFiatIntent(world(), intentId, 2_000_000)
  await settleIntentNow(world(), intentId)
  const [mail] = await mailsTo(payerEmail)
  t.is(mail.subject, 'Your tip of ₦15,200.00')
  t.regex(flat(mailText(mail)), /You paid ₦20,000\.00, and ₦15,200\.00 were asked for.* ₦4,800\.00 wait/)
})

test.serial('a payment above the charge credits the charge, and the surplus waits in suspense', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  payFiatIntent(world(), intentId, 2_000_000)
  await settleIntentNow(world(), intentId)
  t.is(await readFiatStatus(world(), intentId), 'completed')
  t.is(await readAvailableUsdc(world(), creator), 9.5)
  t.deepEqual(await listSuspense(world(), intentId), [['overpaid', 480_000n]])
})

test.serial('a second payment is not credited, also when both are found by one poll', async (t) => {
  const creator = await registerCreator(world())
  for (const settlesBetween of [true, false]) {
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    const before = await readAvailableUsdc(world(), creator)
    payFiatIntent(world(), intentId)
    if (settlesBetween) await settleIntentNow(world(), intentId)
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
    t.is((await readAvailableUsdc(world(), creator)) - before, 9.5)
    t.deepEqual(await listSuspense(world(), intentId), [['paid_again', 1_520_000n]])
    const payments = await world().db('fiat_payments').where({ intent_id: intentId })
    t.is(payments.length, 2)
  }
})

/** What may happen to an intent. */
const events: Readonly<Record<string, (id: string) => Promise<void> | void>> = {
  declined: (id) => failCharge(world(), id),
  expired: (id) => expireFiatIntent(world(), id),
  underpaid: (id) => payFiatIntent(world(), id, 10_000),
  paid: (id) => payFiatIntent(world(), id),
}

function ordersOf(names: readonly string[]): string[][] {
  if (names.length === 0) return [[]]
  return names.flatMap((first) =>
    ordersOf(names.filter((name) => name !== first)).map((rest) => [first, ...rest]),
  )
}

for (const polled of ['after each event', 'once at the end'])
  for (const order of ordersOf(Object.keys(events)))
    test.serial(`${order.join(', then ')} is credited once when polled ${polled}`, async (t) => {
      const creator = await registerCreator(world())
      const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
      const paidAs = order.indexOf('paid')
      for (const [index, event] of order.entries()) {
        await events[event]?.(intentId)
        if (polled === 'once at the end') continue
        await settleIntentNow(world(), intentId)
        const before = order[0] === 'expired' ? 'cancelled' : 'failed'
        t.is(await readFiatStatus(world(), intentId), index < paidAs ? before : 'completed', event)
      }
      await settleIntentNow(world(), intentId)
      t.is(await readFiatStatus(world(), intentId), 'completed')
      t.is(await readAvailableUsdc(world(), creator), 9.5)
      const waits = order.indexOf('underpaid') < paidAs ? 'underpaid' : 'paid_again'
      t.deepEqual(await listSuspense(world(), intentId), [[waits, 10_000n]])
      const { metadata } = await world().db('fiat_intents').where({ id: intentId }).first()
      t.like(metadata, { platformFee: 0.5, rate: '1600', basis: 'net' })
      if (order.indexOf('expired') < paidAs) t.true(metadata.paidLate)
    })

test.serial('money paid before the expiry but found after it is not late', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  payFiatIntent(world(), intentId)
  await expireFiatIntent(world(), intentId, -1)
  await until('it has expired', async () => {
    const { rows } = await world().db.raw(
      'select expires_at < clock_timestamp() as over from fiat_intents where id = ?',
      [intentId],
    )
    return rows[0].over
  })
  await settleIntentNow(world(), intentId)
  t.is(await readFiatStatus(world(), intentId), 'completed')
  const { metadata } = await world().db('fiat_intents').where({ id: intentId }).first()
  t.false('paidLate' in metadata)
})

test.serial('late money is valued at the locked or the current rate, whichever gives less', async (t) => {
  const creator = await registerCreator(world())
  for (const [rate, credited] of [
    [1900, (9.5 * 1600) / 1900],
    [1608, Math.floor((9.5e6 * 1600) / 1608) / 1e6],
    [1300, 9.5],
  ] as const) {
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    await expireFiatIntent(world(), intentId)
    const undo = await acceptRate(world(), rate)
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
    t.is((await listTips(world(), creator.user.id))[0]?.receivedAmount, credited)
    await undo()
  }
})

test.serial('inside the window too a rate more than 1 % higher than the locked one counts', async (t) => {
  const creator = await registerCreator(world())
  for (const [rate, credited] of [
    [1890, Math.floor((9.5e6 * 1600) / 1890) / 1e6],
    [1616.01, Math.floor((9.5e6 * 1600) / 1616.01) / 1e6],
    [1616, 9.5],
    [1400, 9.5],
  ] as const) {
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    const undo = await acceptRate(world(), rate)
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
    const [tip] = await listTips(world(), creator.user.id)
    t.is(tip?.receivedAmount, credited, String(rate))
    await undo()
  }
})

test.serial('settlement reads the feed, and a refused reading leaves the last accepted rate', async (t) => {
  const creator = await registerCreator(world())
  const rates = world().fiat.rates
  for (const [reading, credited] of [
    [160_000, 9.5],
    [1800, Math.floor((9.5e6 * 1600) / 1800) / 1e6],
  ] as const) {
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    rates.set({ NGN: reading })
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
    t.is((await listTips(world(), creator.user.id))[0]?.receivedAmount, credited)
    rates.reset()
  }
  await setRows(world(), 'rates', { value: 1800 }, { accepted_at: new Date(0) })
})

test.serial('a contradiction of the provider settles nothing', async (t) => {
  const creator = await registerCreator(world())
  const { faults } = world().fiat.fiatpay
  for (const shows of [{ amount: 99 }, { reference: 'other' }, { currency: 'USD' }]) {
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    payFiatIntent(world(), intentId)
    faults.setFault({ id: intentId, shows })
    await settleIntentNow(world(), intentId)
    t.is(await readFiatStatus(world(), intentId), 'requires_action')
    const { last_error: error, due_at: dueAt } = await world()
      .db('fiat_intents')
      .where({ id: intentId })
      .first()
    t.truthy(error)
    t.true(dueAt > new Date())
    faults.setFault({ id: intentId })
    await settleIntentNow(world(), intentId)
    t.is(await readFiatStatus(world(), intentId), 'completed')
  }
  t.is(await readAvailableUsdc(world(), creator), 28.5)
})
