import { createHmac } from 'node:crypto'
import test from 'ava'
import { nextPoll } from '../../src/fiat/settlement/poll-schedule.js'
import { registerCreator } from '../helpers/make/creators.js'
import {
  fiatIntent,
  fiatStatus,
  pay,
  referenceOf,
  settlementBatch,
  settleNow,
} from '../helpers/make/fiat-tips.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

/** What the provider was asked, by endpoint, since the last reset. */
const asked = (): Record<string, number> => world().fiat.fiatpay.calls.all()
const total = (): number => Object.values(asked()).reduce((sum, calls) => sum + calls, 0)

test.beforeEach(async () => {
  // Intents of other tests would be looked at as well.
  await world().db('fiat_intents').update({ due_at: null })
  world().fiat.fiatpay.behaviour.setFault({ webhooks: { copies: 0 } })
  world().fiat.fiatpay.calls.reset()
})

test.serial('a thousand clients that poll the status every second cause no provider call', async (t) => {
  t.timeout(60_000)
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  world().fiat.fiatpay.calls.reset()
  for (let second = 0; second < 3; second++) {
    const statuses = await Promise.all(Array.from({ length: 1000 }, () => fiatStatus(world(), intentId)))
    t.true(statuses.every((status) => status === 'requires_action'))
  }
  t.deepEqual(asked(), {})
})

test.serial('a tip that is paid and looked at costs three calls, and nothing the second time', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  t.is(total(), 1)
  pay(world(), intentId)
  await settleNow(world(), intentId)
  t.is(await fiatStatus(world(), intentId), 'completed')
  t.is(total(), 3)
  await settleNow(world(), intentId)
  t.is(total(), 4)
})

test.serial('a life of eight days costs at most 100 calls, as many as its rhythm has looks', async (t) => {
  t.timeout(60_000)
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const { db } = world()
  let looks = 0
  // The clock is moved by ageing the row by what the worker wrote down as its pause.
  for (;;) {
    const { rows } = await db.raw(
      `update fiat_intents set created_at = created_at - pause, expires_at = expires_at - pause, due_at = clock_timestamp()
       from (select due_at - clock_timestamp() as pause from fiat_intents where id = ?) p
       where id = ? and due_at is not null returning id`,
      [intentId, intentId],
    )
    if (rows.length === 0) break
    await settleNow(world(), intentId)
    looks += 1
    if (looks > 200) break
  }
  t.true(looks <= 100, `${looks}`)
  t.is(total(), 1 + looks)
  t.is(await fiatStatus(world(), intentId), 'cancelled')
  t.is(nextPoll({ sinceCreated: 0, untilExpiry: -7 * 86_400, completed: false }, 7), null)
})

test.serial('a burst of webhooks makes the provider be asked at most once a second', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  await settleNow(world(), intentId)
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
  t.true(total() <= seconds + 1, `${total()} calls in ${seconds} s`)
  t.is(await fiatStatus(world(), intentId), 'requires_action')
})
