import test from 'ava'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { registerCreator } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  expireFiatIntent,
  payFiatIntent,
  readAvailableUsdc,
  readFiatStatus,
  settleIntentNow,
  settlementBatch,
} from '../../helpers/make/fiat/fiat-tips.js'
import { runBatch, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

const alerts = () => countAlerts(world(), 'fiatpay_away')

const outages: Readonly<Record<string, () => void>> = {
  'is down': () => world().fiat.fiatpay.faults.setMode({ charges: 'down' }),
  'answers garbage': () => world().fiat.fiatpay.faults.setMode({ charges: 'garbage' }),
  'does not know our key': () => world().fiat.fiatpay.faults.setFault({ refuseKey: true }),
}

for (const [what, begin] of Object.entries(outages))
  test.serial(
    `while the provider ${what} nothing is decided and an alarm is raised; then the payment is credited`,
    async (t) => {
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
    },
  )

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
  await world()
    .db('fiat_intents')
    .where({ id: intentId })
    .update({ due_at: new Date(0) })
  await runBatch(batch)
  await runBatch(batch)
  t.is(await readFiatStatus(world(), intentId), 'completed')
  t.is(await readAvailableUsdc(world(), creator), 9.5)
})
