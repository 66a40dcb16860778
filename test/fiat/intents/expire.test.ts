import test from 'ava'
import { expireFiatIntents } from '../../../src/fiat/intents/expire-intents.js'
import { deleteOldRates } from '../../../src/market/accepted-rates.js'
import { advanceMonotonicClock, withWallClock } from '../../helpers/clock.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  expireFiatIntent,
  payFiatIntent,
  readAvailableUsdc,
  readFiatStatus,
  settleIntentNow,
} from '../../helpers/make/fiat/fiat-tips.js'
import { listTips } from '../../helpers/make/tips.js'
import { createWithdrawal, creatorWithBalance } from '../../helpers/make/withdrawals.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '100' } })
const daySeconds = 86_400

async function intentFor({ user }: TestCreator): Promise<string> {
  return (await createFiatIntent(world(), { creatorId: user.id, amount: 10 })).intentId
}

test.serial('an unpaid intent is cancelled after its expiry, and not before', async (t) => {
  const intentId = await intentFor(await registerCreator(world()))
  await settleIntentNow(world(), intentId)
  await expireFiatIntents(as('clock', world().services))
  t.is(await readFiatStatus(world(), intentId), 'requires_action')
  await expireFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.is(await readFiatStatus(world(), intentId), 'cancelled')
})

test.serial('an intent expires by the clock of the database, not of the web process', async (t) => {
  const creator = await registerCreator(world())
  for (const hours of [-2, 2]) {
    const intentId = await withWallClock(hours * 3_600_000, () => intentFor(creator))
    const { minutes } = await world()
      .db('fiat_intents')
      .where({ id: intentId })
      .first(world().db.raw('(extract(epoch from expires_at - created_at) / 60)::float8 as minutes'))
    t.true(minutes > 25 && minutes < 31, `${minutes} minutes, with a clock that is wrong by ${hours} h`)
  }
})

test.serial('expired intents are cancelled without the provider; late money completes them', async (t) => {
  const creator = await registerCreator(world())
  const intentId = await intentFor(creator)
  world().fiat.fiatpay.faults.setMode({ charges: 'down' })
  await expireFiatIntent(world(), intentId, 121)
  await settleIntentNow(world(), intentId)
  t.is(await readFiatStatus(world(), intentId), 'requires_action')
  await Promise.all([
    expireFiatIntents(as('clock', world().services)),
    expireFiatIntents(as('clock', world().services)),
  ])
  t.is(await readFiatStatus(world(), intentId), 'cancelled')
  world().fiat.fiatpay.faults.setMode({ charges: 'ok' })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.is(await readFiatStatus(world(), intentId), 'completed')
  t.is(await readAvailableUsdc(world(), creator), 9.5)
})

test.serial('a cancelled intent leaves the list after a day, and late money brings it back', async (t) => {
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
    await expireFiatIntents(as('clock', world().services))
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
})

test.serial('rates that an intent or a withdrawal refers to stay, other old ones go', async (t) => {
  const { db, services, fiat } = world()
  // A rate that no intent of this file has used.
  fiat.rates.set({ NGN: 1601 })
  advanceMonotonicClock(20_000)
  const creator = await creatorWithBalance(world(), 20)
  await createWithdrawal(world(), creator, { amountUSDC: 5 })
  const [{ rate_id: own }] = await db('withdrawals').where({ user_id: creator.user.id })
  t.deepEqual(await db('fiat_intents').where({ rate_id: own }), [])
  const [unused] = await db('rates')
    .insert(await rateLike(own))
    .returning('id')
  await db('rates').update({ created_at: db.raw(`clock_timestamp() - interval '31 days'`) })
  await deleteOldRates(as('clock', services))
  const left = (await db('rates').select('id')).map(({ id }) => id)
  t.true(left.includes(own))
  t.false(left.includes(unused.id))
})

async function rateLike(id: bigint): Promise<object> {
  const { id: _, ...row } = await world().db('rates').where({ id }).first()
  return row
}

test.serial('every table that refers to a rate is asked before rates are deleted', async (t) => {
  const { rows } = await world().db.raw<{ rows: { column: string }[] }>(
    `select conrelid::regclass || '.' || attname as column from pg_constraint
     join pg_attribute on attrelid = conrelid and attnum = conkey[1]
     where contype = 'f' and confrelid = 'rates'::regclass order by 1`,
  )
  // A new one belongs into the condition of deleteOldRates.
  t.deepEqual(
    rows.map(({ column }) => column),
    ['fiat_intents.rate_id', 'fiat_intents.settle_rate_id', 'withdrawals.rate_id'],
  )
})
