import test from 'ava'
import { registerCreator } from '../helpers/make/creators.js'
import {
  availableUsdc,
  expire,
  fiatIntent,
  fiatStatus,
  pay,
  settlementBatch,
  settleNow,
} from '../helpers/make/fiat-tips.js'
import { runBatch, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

async function alerts(): Promise<number> {
  const { values } = await world().services.metrics.alerts.get()
  return values.find(({ labels }) => labels.kind === 'fiatpay_away')?.value ?? 0
}

const outages: Readonly<Record<string, () => void>> = {
  'is down': () => world().fiat.fiatpay.behaviour.setMode({ charges: 'down' }),
  'answers garbage': () => world().fiat.fiatpay.behaviour.setMode({ charges: 'garbage' }),
  'does not know our key': () => world().fiat.fiatpay.behaviour.setFault({ refuseKey: true }),
}

for (const [what, begin] of Object.entries(outages))
  test.serial(
    `a provider that ${what} decides nothing and is an alarm; the payment is credited after`,
    async (t) => {
      const { behaviour } = world().fiat.fiatpay
      const creator = await registerCreator(world())
      const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
      await expire(world(), intentId)
      pay(world(), intentId)
      const before = await alerts()
      begin()
      await settleNow(world(), intentId)
      t.is(await fiatStatus(world(), intentId), 'requires_action')
      t.true((await alerts()) > before)
      const row = await world().db('fiat_intents').where({ id: intentId }).first()
      t.true(row.due_at > new Date() && row.last_error.length > 0)
      behaviour.reset()
      await settleNow(world(), intentId)
      t.is(await fiatStatus(world(), intentId), 'completed')
      t.is(await availableUsdc(world(), creator), 9.5)
    },
  )

test.serial('what the provider says of a completed tip later takes nothing back', async (t) => {
  const { behaviour } = world().fiat.fiatpay
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  pay(world(), intentId)
  await settleNow(world(), intentId)
  for (const status of ['failed', 'abandoned', 'pending', 'reversed', 'success']) {
    behaviour.setFault({ id: intentId, shows: { status } })
    await settleNow(world(), intentId)
    t.is(await fiatStatus(world(), intentId), 'completed', status)
    t.is(await availableUsdc(world(), creator), 9.5, status)
  }
  behaviour.reset()
})

test.serial('a list that knows no filter by reference leaves what the look-up vouches for', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  pay(world(), intentId)
  const { services } = world()
  const collections = { ...services.collections, payments: async () => [] }
  const batch = settlementBatch({ services: { ...services, collections } })
  await world()
    .db('fiat_intents')
    .where({ id: intentId })
    .update({ due_at: new Date(0) })
  await runBatch(batch)
  await runBatch(batch)
  t.is(await fiatStatus(world(), intentId), 'completed')
  t.is(await availableUsdc(world(), creator), 9.5)
})
