import { createHmac } from 'node:crypto'
import test from 'ava'
import { nextPoll } from '../../../src/fiat/settlement/poll-schedule.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { registerCreator } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  expireFiatIntent,
  payFiatIntent,
  readAvailableUsdc,
  readFiatStatus,
  referenceOf,
  settleIntentNow,
  settlementBatch,
} from '../../helpers/make/fiat/fiat-tips.js'
import { startWorkerProcess } from '../../helpers/servers/service-process.js'
import { runBatch, setRows, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true })

async function post(raw: string, signature: string): Promise<number> {
  const answer = await world().request('POST', '/webhooks/fiatpay', {
    body: raw,
    headers: { 'x-paystack-signature': signature },
  })
  return answer.status
}

const signatureOf = (raw: string): string =>
  createHmac('sha512', world().fiat.fiatpay.secretKey).update(raw).digest('hex')

async function dueAt(intentId: string): Promise<Date> {
  return (await world().db('fiat_intents').where({ id: intentId }).first()).due_at
}

/** Moves the next poll an hour away, so that only a webhook makes the intent due. */
async function postponePoll(intentId: string): Promise<void> {
  await world()
    .db('fiat_intents')
    .where({ id: intentId })
    .update({ due_at: new Date(Date.now() + 3_600_000), asked_at: new Date(0) })
}

test.serial('a webhook with a valid signature makes its intent due, any other does nothing', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  await postponePoll(intentId)
  // Has white space that a serializer would not write, so only the raw bytes have this signature.
  const raw = `{ "event":"charge.success",\n "data": {"reference":"${referenceOf(intentId)}", "status":"success"}}`
  for (const wrong of [
    '',
    'zz',
    signatureOf(`${raw} `),
    signatureOf(raw).slice(2),
    signatureOf(raw).replace(/^./, 'g'),
  ])
    t.is(await post(raw, wrong), 401)
  t.true((await dueAt(intentId)) > new Date())
  t.is(await post(raw, signatureOf(raw)), 200)
  t.true((await dueAt(intentId)) <= new Date())
  const unknown = '{"event":"refund.invented","data":{"transaction_reference":7,"reference":null}}'
  for (const other of ['{}', 'no json', '[]', '{"data":{"reference":"fiatpay-nobody"}}', '', unknown])
    t.is(await post(other, signatureOf(other)), 200)
  const huge = 'x'.repeat(300_000)
  t.is(await post(huge, signatureOf(huge)), 400)
})

test.serial('the content of a webhook is not trusted', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const data = {
    id: 1,
    status: 'success',
    reference: referenceOf(intentId),
    amount: 1_520_000,
    currency: 'NGN',
  }
  const raw = JSON.stringify({ event: 'charge.success', data })
  await postponePoll(intentId)
  t.is(await post(raw, signatureOf(raw)), 200)
  await runBatch(settlementBatch(world()))
  t.is(await readFiatStatus(world(), intentId), 'requires_action')
  t.is(await readAvailableUsdc(world(), creator), 0)
})

test.serial('two workers, with each webhook sent five times, credit forty payments once each', async (t) => {
  const creator = await registerCreator(world())
  world().fiat.fiatpay.faults.setFault({ webhooks: { copies: 5 } })
  await Promise.all([
    startWorkerProcess(t, 'settlement', world().env),
    startWorkerProcess(t, 'settlement', world().env),
  ])
  const intents = await Promise.all(
    Array.from({ length: 40 }, () => createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })),
  )
  for (const { intentId } of intents) payFiatIntent(world(), intentId)
  await until('all are completed', async () => {
    const statuses = await Promise.all(intents.map(({ intentId }) => readFiatStatus(world(), intentId)))
    return statuses.every((status) => status === 'completed')
  })
  t.is(await readAvailableUsdc(world(), creator), 380)
  const { rows } = await world().db.raw(
    'select count(*)::int, count(distinct confirmed_at)::int as stamps from tips where recipient_party = (select id from parties where user_id = ?)',
    [creator.user.id],
  )
  t.deepEqual(rows[0], { count: 40, stamps: 40 })
  t.true((await checkBooks(world().db)).holds)
})

test.serial('an intent is polled again when a webhook comes during a poll', async (t) => {
  const creator = await registerCreator(world())
  world().fiat.fiatpay.faults.setFault({ webhooks: { copies: 0 } })
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const raw = JSON.stringify({ event: 'charge.success', data: { reference: referenceOf(intentId) } })
  const { services } = world()
  // The provider answers "nothing yet". Before the worker has stored that, the payment and its webhook come.
  const collections = {
    ...services.collections,
    async findCharge(reference: string) {
      const state = await services.collections.findCharge(reference)
      // Intents of earlier tests may be due too. They must not trigger the payment.
      if (reference === referenceOf(intentId) && state.status !== 'paid') {
        payFiatIntent(world(), intentId)
        await post(raw, signatureOf(raw))
      }
      return state
    },
  }
  await setRows(world(), 'fiat_intents', { id: intentId }, { due_at: new Date(0) })
  const batch = settlementBatch({ services: { ...services, collections } })
  await batch()
  t.is(await readFiatStatus(world(), intentId), 'requires_action')
  await until('the next poll finds the payment', async () => {
    await batch()
    return (await readFiatStatus(world(), intentId)) === 'completed'
  })
})

const alerts = () => countAlerts(world(), 'fiatpay_away')

const outages: Readonly<Record<string, () => void>> = {
  'is down': () => world().fiat.fiatpay.faults.setMode({ charges: 'down' }),
  'answers garbage': () => world().fiat.fiatpay.faults.setMode({ charges: 'garbage' }),
  'does not know our key': () => world().fiat.fiatpay.faults.setFault({ refuseKey: true }),
}

for (const [what, begin] of Object.entries(outages))
  test.serial(`while the provider ${what} nothing is decided, with an alarm`, async (t) => {
    const { faults } = world().fiat.fiatpay
    const creator = await registerCreator(world())
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    await expireFiatIntent(world(), intentId)
    payFiatIntent(world(), intentId)
    const before = await alerts()
    begin()
    await settleIntentNow(world(), intentId)
    t.is(await readFiatStatus(world(), intentId), 'requires_action')
    t.true((await alerts()) > before)
    const row = await world().db('fiat_intents').where({ id: intentId }).first()
    t.true(row.due_at > new Date() && row.last_error.length > 0)
    faults.reset()
    await settleIntentNow(world(), intentId)
    t.is(await readFiatStatus(world(), intentId), 'completed')
    t.is(await readAvailableUsdc(world(), creator), 9.5)
  })

test.serial('later answers of the provider about a completed tip change nothing', async (t) => {
  const { faults } = world().fiat.fiatpay
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  for (const status of ['failed', 'abandoned', 'pending', 'reversed', 'success']) {
    faults.setFault({ id: intentId, shows: { status } })
    await settleIntentNow(world(), intentId)
    t.is(await readFiatStatus(world(), intentId), 'completed', status)
    t.is(await readAvailableUsdc(world(), creator), 9.5, status)
  }
  faults.reset()
})

test.serial('a payment is credited by its first answer when the list of payments is empty', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  payFiatIntent(world(), intentId)
  const { services } = world()
  const collections = { ...services.collections, listPayments: async () => [] }
  const batch = settlementBatch({ services: { ...services, collections } })
  await setRows(world(), 'fiat_intents', { id: intentId }, { due_at: new Date(0) })
  await runBatch(batch)
  await runBatch(batch)
  t.is(await readFiatStatus(world(), intentId), 'completed')
  t.is(await readAvailableUsdc(world(), creator), 9.5)
})

/** The provider's calls since the last reset, by endpoint. */
const callsByEndpoint = (): Record<string, number> => world().fiat.fiatpay.calls.all()
const countCalls = (): number => Object.values(callsByEndpoint()).reduce((sum, calls) => sum + calls, 0)

test.beforeEach(async () => {
  // Intents of other tests would be polled as well.
  await world().db('fiat_intents').update({ due_at: null })
  world().fiat.fiatpay.faults.setFault({ webhooks: { copies: 0 } })
  world().fiat.fiatpay.calls.reset()
})

test.serial('a thousand clients that poll the status cause no provider call', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  world().fiat.fiatpay.calls.reset()
  for (let hundreds = 0; hundreds < 10; hundreds++) {
    const statuses = await Promise.all(Array.from({ length: 100 }, () => readFiatStatus(world(), intentId)))
    t.true(statuses.every((status) => status === 'requires_action'))
  }
  t.deepEqual(callsByEndpoint(), {})
})

test.serial('a paid tip costs three calls until it is completed, and one for each later poll', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  t.is(countCalls(), 1)
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.is(await readFiatStatus(world(), intentId), 'completed')
  t.is(countCalls(), 3)
  await settleIntentNow(world(), intentId)
  t.is(countCalls(), 4)
})

test.serial('an unpaid intent costs at most 100 calls in its eight days, one for each poll', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const { db } = world()
  let polls = 0
  // Instead of waiting, the row is aged by the pause that the worker set.
  for (;;) {
    const { rows } = await db.raw(
      `update fiat_intents set created_at = created_at - pause, expires_at = expires_at - pause, due_at = clock_timestamp()
       from (select due_at - clock_timestamp() as pause from fiat_intents where id = ?) p
       where id = ? and due_at is not null returning id`,
      [intentId, intentId],
    )
    if (rows.length === 0) break
    await settleIntentNow(world(), intentId)
    polls += 1
    if (polls > 200) break
  }
  t.true(polls <= 100, `${polls}`)
  t.is(countCalls(), 1 + polls)
  t.is(await readFiatStatus(world(), intentId), 'cancelled')
  t.is(nextPoll({ sinceCreated: 0, untilExpiry: -7 * 86_400, completed: false }, 7), null)
})

test.serial('a burst of webhooks causes at most one poll of the provider per second', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  await settleIntentNow(world(), intentId)
  world().fiat.fiatpay.calls.reset()
  const raw = JSON.stringify({ event: 'charge.success', data: { reference: referenceOf(intentId) } })
  const signature = createHmac('sha512', world().fiat.fiatpay.secretKey).update(raw).digest('hex')
  const batch = settlementBatch(world())
  const startedAt = performance.now()
  for (let n = 0; n < 20; n++) {
    const burst = Array.from({ length: 10 }, () =>
      world().request('POST', '/webhooks/fiatpay', {
        body: raw,
        headers: { 'x-paystack-signature': signature },
      }),
    )
    await Promise.all([...burst, batch(), batch()])
  }
  const seconds = Math.ceil((performance.now() - startedAt) / 1000)
  t.true(countCalls() <= seconds + 1, `${countCalls()} calls in ${seconds} s`)
  t.is(await readFiatStatus(world(), intentId), 'requires_action')
})
