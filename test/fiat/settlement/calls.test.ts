import { createHmac } from 'node:crypto'
import test from 'ava'
import { nextPoll } from '../../../src/fiat/settlement/poll-schedule.js'
import { registerCreator } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  payFiatIntent,
  readFiatStatus,
  referenceOf,
  settleIntentNow,
  settlementBatch,
} from '../../helpers/make/fiat/fiat-tips.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

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
  for (let second = 0; second < 3; second++) {
    const statuses = await Promise.all(Array.from({ length: 1000 }, () => readFiatStatus(world(), intentId)))
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
