import { createHmac } from 'node:crypto'
import test from 'ava'
import { checkBooks } from '../../src/ledger/invariants.js'
import { registerCreator } from '../helpers/make/creators.js'
import {
  availableUsdc,
  fiatIntent,
  fiatStatus,
  pay,
  referenceOf,
  settlementBatch,
} from '../helpers/make/fiat-tips.js'
import { startWorkerProcess } from '../helpers/servers/service-process.js'
import { runBatch, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true })

async function post(raw: string, signature: string): Promise<number> {
  const answer = await world().request('POST', '/webhooks/fiatpay', {
    body: raw,
    headers: { 'x-paystack-signature': signature },
  })
  return answer.status
}

const signed = (raw: string): string =>
  createHmac('sha512', world().fiat.fiatpay.secretKey).update(raw).digest('hex')

async function dueAt(intentId: string): Promise<Date> {
  return (await world().db('fiat_intents').where({ id: intentId }).first()).due_at
}

/** Nobody is to look but for a webhook. */
async function putOff(intentId: string): Promise<void> {
  await world()
    .db('fiat_intents')
    .where({ id: intentId })
    .update({ due_at: new Date(Date.now() + 3_600_000), asked_at: new Date(0) })
}

test.serial(
  'a webhook signed over its very bytes makes its intent due, any other makes nothing',
  async (t) => {
    const creator = await registerCreator(world())
    const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    await putOff(intentId)
    // White space that no serializer would write again: only the raw bytes have this signature.
    const raw = `{ "event":"charge.success",\n "data": {"reference":"${referenceOf(intentId)}", "status":"success"}}`
    for (const wrong of ['', 'zz', signed(`${raw} `), signed(raw).slice(2), signed(raw).replace(/^./, 'g')])
      t.is(await post(raw, wrong), 401)
    t.true((await dueAt(intentId)) > new Date())
    t.is(await post(raw, signed(raw)), 200)
    t.true((await dueAt(intentId)) <= new Date())
    for (const other of ['{}', 'no json', '[]', '{"data":{"reference":"fiatpay-nobody"}}', ''])
      t.is(await post(other, signed(other)), 200)
    const huge = 'x'.repeat(300_000)
    t.is(await post(huge, signed(huge)), 400)
  },
)

test.serial('what a webhook says is not believed', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const data = {
    id: 1,
    status: 'success',
    reference: referenceOf(intentId),
    amount: 1_520_000,
    currency: 'NGN',
  }
  const raw = JSON.stringify({ event: 'charge.success', data })
  await putOff(intentId)
  t.is(await post(raw, signed(raw)), 200)
  await runBatch(settlementBatch(world()))
  t.is(await fiatStatus(world(), intentId), 'requires_action')
  t.is(await availableUsdc(world(), creator), 0)
})

test.serial(
  'two settlement workers and every webhook five times credit each of forty payments once',
  async (t) => {
    const creator = await registerCreator(world())
    world().fiat.fiatpay.behaviour.setFault({ webhooks: { copies: 5 } })
    await Promise.all([
      startWorkerProcess(t, 'settlement', world().env),
      startWorkerProcess(t, 'settlement', world().env),
    ])
    const intents = await Promise.all(
      Array.from({ length: 40 }, () => fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })),
    )
    for (const { intentId } of intents) pay(world(), intentId)
    await until(
      'all are completed',
      async () => {
        const statuses = await Promise.all(intents.map(({ intentId }) => fiatStatus(world(), intentId)))
        return statuses.every((status) => status === 'completed')
      },
      20_000,
    )
    t.is(await availableUsdc(world(), creator), 380)
    const { rows } = await world().db.raw(
      'select count(*)::int, count(distinct confirmed_at)::int as stamps from tips where recipient_party = (select id from parties where user_id = ?)',
      [creator.user.id],
    )
    t.deepEqual(rows[0], { count: 40, stamps: 40 })
    t.true((await checkBooks(world().db)).holds)
  },
)

test.serial('a webhook that comes while its intent is being looked at is looked after', async (t) => {
  const creator = await registerCreator(world())
  world().fiat.fiatpay.behaviour.setFault({ webhooks: { copies: 0 } })
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const raw = JSON.stringify({ event: 'charge.success', data: { reference: referenceOf(intentId) } })
  const { services } = world()
  // The provider answers "nothing yet"; before the worker has written that down, the money and its webhook come.
  const collections = {
    ...services.collections,
    async lookUp(reference: string) {
      const state = await services.collections.lookUp(reference)
      // Intents of the tests before may be due as well, and must not bring the money early.
      if (reference === referenceOf(intentId) && state.status !== 'paid') {
        pay(world(), intentId)
        await post(raw, signed(raw))
      }
      return state
    },
  }
  await world()
    .db('fiat_intents')
    .where({ id: intentId })
    .update({ due_at: new Date(0) })
  const batch = settlementBatch({ services: { ...services, collections } })
  await batch()
  t.is(await fiatStatus(world(), intentId), 'requires_action')
  await until(
    'the next look finds the money',
    async () => {
      await batch()
      return (await fiatStatus(world(), intentId)) === 'completed'
    },
    5000,
  )
})
