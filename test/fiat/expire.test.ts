import test from 'ava'
import { expireFiat } from '../../src/fiat/intents/expire-intents.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { availableUsdc, expire, fiatIntent, fiatStatus, pay, settleNow } from '../helpers/make/fiat-tips.js'
import { listTips } from '../helpers/make/tips.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })
const daySeconds = 86_400

async function intentFor({ user }: TestCreator): Promise<string> {
  return (await fiatIntent(world(), { creatorId: user.id, amount: 10 })).intentId
}

test.serial('an intent nobody paid is cancelled when its time is over, and not before', async (t) => {
  const intentId = await intentFor(await registerCreator(world()))
  await settleNow(world(), intentId)
  await expireFiat(world().services)
  t.is(await fiatStatus(world(), intentId), 'requires_action')
  await expire(world(), intentId)
  await settleNow(world(), intentId)
  t.is(await fiatStatus(world(), intentId), 'cancelled')
})

test.serial(
  'the clock cancels what is over even when the provider is away, and late money still wins',
  async (t) => {
    const creator = await registerCreator(world())
    const intentId = await intentFor(creator)
    world().fiat.fiatpay.behaviour.setMode({ charges: 'down' })
    await expire(world(), intentId, 121)
    await settleNow(world(), intentId)
    t.is(await fiatStatus(world(), intentId), 'requires_action')
    await Promise.all([expireFiat(world().services), expireFiat(world().services)])
    t.is(await fiatStatus(world(), intentId), 'cancelled')
    world().fiat.fiatpay.behaviour.setMode({ charges: 'ok' })
    pay(world(), intentId)
    await settleNow(world(), intentId)
    t.is(await fiatStatus(world(), intentId), 'completed')
    t.is(await availableUsdc(world(), creator), 9.5)
  },
)

test.serial(
  'a cancelled intent leaves the list after a day, unless money came; late money brings it back',
  async (t) => {
    const creator = await registerCreator(world())
    const [unpaid, underpaid, late] = [
      await intentFor(creator),
      await intentFor(creator),
      await intentFor(creator),
    ]
    for (const id of [unpaid, underpaid, late]) {
      await expire(world(), id)
      await settleNow(world(), id)
    }
    pay(world(), underpaid, 5000)
    await settleNow(world(), underpaid)
    const listed = async () => {
      await expireFiat(world().services)
      return (await listTips(world(), creator.wallet)).map(({ signature }) => signature).sort()
    }
    t.deepEqual(await listed(), [unpaid, underpaid, late].sort())
    await world()
      .db('fiat_intents')
      .whereNotNull('unlist_at')
      .update({ unlist_at: world().db.raw(`unlist_at - interval '${daySeconds} s'`) })
    t.deepEqual(await listed(), [underpaid])
    pay(world(), late)
    await settleNow(world(), late)
    t.deepEqual(await listed(), [underpaid, late].sort())
  },
)
