import test from 'ava'
import { expireFiatIntents } from '../../src/fiat/intents/expire-intents.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import {
  createFiatIntent,
  expireFiatIntent,
  payFiatIntent,
  readAvailableUsdc,
  readFiatStatus,
  settleIntentNow,
} from '../helpers/make/fiat-tips.js'
import { listTips } from '../helpers/make/tips.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })
const daySeconds = 86_400

async function intentFor({ user }: TestCreator): Promise<string> {
  return (await createFiatIntent(world(), { creatorId: user.id, amount: 10 })).intentId
}

test.serial('an unpaid intent is cancelled after its expiry, and not before', async (t) => {
  const intentId = await intentFor(await registerCreator(world()))
  await settleIntentNow(world(), intentId)
  await expireFiatIntents(world().services)
  t.is(await readFiatStatus(world(), intentId), 'requires_action')
  await expireFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.is(await readFiatStatus(world(), intentId), 'cancelled')
})

test.serial(
  'the clock cancels expired intents also when the provider is unavailable, and late money still completes them',
  async (t) => {
    const creator = await registerCreator(world())
    const intentId = await intentFor(creator)
    world().fiat.fiatpay.faults.setMode({ charges: 'down' })
    await expireFiatIntent(world(), intentId, 121)
    await settleIntentNow(world(), intentId)
    t.is(await readFiatStatus(world(), intentId), 'requires_action')
    await Promise.all([expireFiatIntents(world().services), expireFiatIntents(world().services)])
    t.is(await readFiatStatus(world(), intentId), 'cancelled')
    world().fiat.fiatpay.faults.setMode({ charges: 'ok' })
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
    t.is(await readFiatStatus(world(), intentId), 'completed')
    t.is(await readAvailableUsdc(world(), creator), 9.5)
  },
)

test.serial(
  'a cancelled intent leaves the list after a day unless money came, and late money brings it back',
  async (t) => {
    const creator = await registerCreator(world())
    const [unpaid, underpaid, late] = [
      await intentFor(creator),
      await intentFor(creator),
      await intentFor(creator),
    ]
    for (const id of [unpaid, underpaid, late]) {
      await expireFiatIntent(world(), id)
      await settleIntentNow(world(), id)
    }
    payFiatIntent(world(), underpaid, 5000)
    await settleIntentNow(world(), underpaid)
    const listed = async () => {
      await expireFiatIntents(world().services)
      return (await listTips(world(), creator.wallet)).map(({ signature }) => signature).sort()
    }
    t.deepEqual(await listed(), [unpaid, underpaid, late].sort())
    await world()
      .db('fiat_intents')
      .whereNotNull('unlist_at')
      .update({ unlist_at: world().db.raw(`unlist_at - interval '${daySeconds} s'`) })
    t.deepEqual(await listed(), [underpaid])
    payFiatIntent(world(), late)
    await settleIntentNow(world(), late)
    t.deepEqual(await listed(), [underpaid, late].sort())
  },
)
