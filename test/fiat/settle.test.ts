import test from 'ava'
import { checkBooks } from '../../src/ledger/invariants.js'
import { follow } from '../helpers/http/stream-reader.js'
import { registerCreator } from '../helpers/make/creators.js'
import {
  availableUsdc,
  decline,
  expire,
  fiatIntent,
  fiatStatus,
  pay,
  platformUnits,
  settleNow,
  suspenseOf,
} from '../helpers/make/fiat-tips.js'
import { registerPerson } from '../helpers/make/people.js'
import { listTips } from '../helpers/make/tips.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true })

test.afterEach.always('the books hold', async (t) => {
  const { holds } = await checkBooks(world().db)
  t.true(holds)
})

test.serial('a paid checkout is completed, credited, streamed, listed and an event', async (t) => {
  const creator = await registerCreator(world())
  const stream = await follow(t, world().url, creator.wallet)
  const intent = await fiatIntent(world(), {
    creatorId: creator.user.id,
    amount: 10,
    senderName: 'Bola',
    memo: 'well done',
    payerEmail: 'bola@example.com',
  })
  t.regex(intent.checkoutUrl ?? '', /^http.*\/checkout\/fiatpay-[0-9a-f]{32}$/)
  t.is(intent.paymentInstructions, undefined)
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
  await settleNow(world(), intent.intentId)
  t.is(await fiatStatus(world(), intent.intentId), 'requires_action')

  pay(world(), intent.intentId)
  await settleNow(world(), intent.intentId)
  t.is(await fiatStatus(world(), intent.intentId), 'completed')
  t.is(await availableUsdc(world(), creator), 9.5)
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

test.serial('a creator who collects by bank transfer gets instructions, and the same credit', async (t) => {
  const creator = await registerCreator(world(), { fiatCollection: 'bank_transfer' })
  const intent = await fiatIntent(world(), { creatorId: creator.wallet, amount: 10 })
  t.is(intent.checkoutUrl, null)
  t.like(intent.paymentInstructions, { amount: 15_200, currency: 'NGN', reference: intent.intentId })
  t.regex(intent.paymentInstructions?.accountNumber ?? '', /^\d{10}$/)
  pay(world(), intent.intentId)
  await settleNow(world(), intent.intentId)
  t.is(await fiatStatus(world(), intent.intentId), 'completed')
  t.is(await availableUsdc(world(), creator), 9.5)
})

test.serial('a charge of NGN 1,600 for "1,000 USD" credits 1 USD, and is shown as such', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), {
    creatorId: creator.user.id,
    amount: 1000,
    amountNgn: 1600,
  })
  pay(world(), intentId)
  await settleNow(world(), intentId)
  t.is(await availableUsdc(world(), creator), 1)
  const [tip] = await listTips(world(), creator.user.id)
  t.like(tip, {
    amount: 1.05,
    valueUsd: 1.05,
    receivedAmount: 1,
    fiatDetails: { platformFee: 0.05, finalAmountUsd: 1, amountNgn: 1600 },
  })
})

test.serial(
  'an explicit charge above the amount credits what was promised; the rest is the platform’s',
  async (t) => {
    const creator = await registerCreator(world())
    const before = await platformUnits(world(), 'platform_fee', 'USDC')
    const { intentId } = await fiatIntent(world(), {
      creatorId: creator.user.id,
      amount: 10,
      amountNgn: 32_000,
    })
    pay(world(), intentId)
    await settleNow(world(), intentId)
    t.is(await availableUsdc(world(), creator), 9.5)
    t.is((await platformUnits(world(), 'platform_fee', 'USDC')) - before, 10_500_000n)
  },
)

test.serial(
  'less than the charge fails the intent and waits in suspense; the rest of the money still completes it',
  async (t) => {
    const creator = await registerCreator(world())
    const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    const before = await platformUnits(world(), 'suspense', 'NGN')
    pay(world(), intentId, 1_519_999)
    await settleNow(world(), intentId)
    t.is(await fiatStatus(world(), intentId), 'failed')
    t.deepEqual(await suspenseOf(world(), intentId), [['underpaid', 1_519_999n]])
    t.is(await availableUsdc(world(), creator), 0)

    pay(world(), intentId)
    await settleNow(world(), intentId)
    t.is(await fiatStatus(world(), intentId), 'completed')
    t.is(await availableUsdc(world(), creator), 9.5)
    t.is((await platformUnits(world(), 'suspense', 'NGN')) - before, 1_519_999n)
  },
)

test.serial('more than the charge credits the charge, and the surplus waits in suspense', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  pay(world(), intentId, 2_000_000)
  await settleNow(world(), intentId)
  t.is(await fiatStatus(world(), intentId), 'completed')
  t.is(await availableUsdc(world(), creator), 9.5)
  t.deepEqual(await suspenseOf(world(), intentId), [['overpaid', 480_000n]])
})

test.serial('whoever pays twice is credited once, whether or not anybody looked in between', async (t) => {
  const creator = await registerCreator(world())
  for (const looks of [true, false]) {
    const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    const before = await availableUsdc(world(), creator)
    pay(world(), intentId)
    if (looks) await settleNow(world(), intentId)
    pay(world(), intentId)
    await settleNow(world(), intentId)
    t.is((await availableUsdc(world(), creator)) - before, 9.5)
    t.deepEqual(await suspenseOf(world(), intentId), [['paid_again', 1_520_000n]])
    const payments = await world().db('fiat_payments').where({ intent_id: intentId })
    t.is(payments.length, 2)
  }
})

/** What may happen to an intent, besides that its money comes. */
const fates: Readonly<Record<string, (id: string) => Promise<void> | void>> = {
  declined: (id) => decline(world(), id),
  expired: (id) => expire(world(), id),
  underpaid: (id) => pay(world(), id, 10_000),
  paid: (id) => pay(world(), id),
}

function ordersOf(events: readonly string[]): string[][] {
  if (events.length === 0) return [[]]
  return events.flatMap((first) =>
    ordersOf(events.filter((event) => event !== first)).map((rest) => [first, ...rest]),
  )
}

for (const seen of ['each of it', 'only the end'])
  for (const order of ordersOf(Object.keys(fates)))
    test.serial(
      `money is credited once when it is ${order.join(', then ')}, and a worker sees ${seen}`,
      async (t) => {
        const creator = await registerCreator(world())
        const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
        const paidAs = order.indexOf('paid')
        for (const [index, fate] of order.entries()) {
          await fates[fate]?.(intentId)
          if (seen === 'only the end') continue
          await settleNow(world(), intentId)
          const before = order[0] === 'expired' ? 'cancelled' : 'failed'
          t.is(await fiatStatus(world(), intentId), index < paidAs ? before : 'completed', fate)
        }
        await settleNow(world(), intentId)
        t.is(await fiatStatus(world(), intentId), 'completed')
        t.is(await availableUsdc(world(), creator), 9.5)
        const waits = order.indexOf('underpaid') < paidAs ? 'underpaid' : 'paid_again'
        t.deepEqual(await suspenseOf(world(), intentId), [[waits, 10_000n]])
        const { metadata } = await world().db('fiat_intents').where({ id: intentId }).first()
        t.like(metadata, { platformFee: 0.5, rate: '1600', basis: 'net' })
        if (order.indexOf('expired') < paidAs) t.true(metadata.paidLate)
      },
    )

test.serial('money paid before expiry but seen after it is not late', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  pay(world(), intentId)
  await expire(world(), intentId, -1)
  await until('it has expired', async () => {
    const { rows } = await world().db.raw(
      'select expires_at < clock_timestamp() as over from fiat_intents where id = ?',
      [intentId],
    )
    return rows[0].over
  })
  await settleNow(world(), intentId)
  t.is(await fiatStatus(world(), intentId), 'completed')
  const { metadata } = await world().db('fiat_intents').where({ id: intentId }).first()
  t.false('paidLate' in metadata)
})

test.serial('late money is worth what gives less: the locked rate or the current one', async (t) => {
  const creator = await registerCreator(world())
  for (const [rate, credited] of [
    [1900, (9.5 * 1600) / 1900],
    [1300, 9.5],
  ] as const) {
    const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    await expire(world(), intentId)
    const before = await availableUsdc(world(), creator)
    await world().db('rates').insert({
      pair: 'USD/NGN',
      value: rate,
      source: 'feed',
      as_of: new Date(),
      accepted_at: new Date(),
      accepted_by: 'feed',
    })
    pay(world(), intentId)
    await settleNow(world(), intentId)
    t.is((await availableUsdc(world(), creator)) - before, credited)
    await world()
      .db('rates')
      .where({ value: rate })
      .update({ accepted_at: new Date(0) })
  }
})

test.serial(
  'a contradiction of the provider, another reference or another currency decides nothing',
  async (t) => {
    const creator = await registerCreator(world())
    const { behaviour } = world().fiat.fiatpay
    for (const shows of [{ amount: 99 }, { reference: 'other' }, { currency: 'USD' }]) {
      const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
      pay(world(), intentId)
      behaviour.setFault({ id: intentId, shows })
      await settleNow(world(), intentId)
      t.is(await fiatStatus(world(), intentId), 'requires_action')
      const { last_error: error, due_at: dueAt } = await world()
        .db('fiat_intents')
        .where({ id: intentId })
        .first()
      t.truthy(error)
      t.true(dueAt > new Date())
      behaviour.setFault({ id: intentId })
      await settleNow(world(), intentId)
      t.is(await fiatStatus(world(), intentId), 'completed')
    }
    t.is(await availableUsdc(world(), creator), 28.5)
  },
)

test.serial('a creator without a wallet is tipped as well', async (t) => {
  const creator = await registerPerson(world())
  const { intentId } = await fiatIntent(world(), { creatorId: `auth_${creator.user.id}`, amount: 10 })
  pay(world(), intentId)
  await settleNow(world(), intentId)
  const [tip] = await listTips(world(), creator.user.id)
  t.like(tip, { recipient: '', recipient_id: creator.user.id, status: 'confirmed' })
  t.is(await availableUsdc(world(), creator), 9.5)
})
