import { randomInt } from 'node:crypto'
import test from 'ava'
import { runMonth } from '../../scripts/faults/month.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('in a short month with killed processes the ledger is what chain and bank have, and they cover what is owed', async (t) => {
  t.timeout(400_000)
  const { env } = world()
  const seed = randomInt(1, 1e9)
  const plan = { seed, days: 2, tips: 60, kills: 4 }
  t.log(`seed ${seed}; a longer run: npm run faults -- month --seed ${seed}`)
  const servers = {
    databaseUrl: env['DATABASE_URL'] ?? '',
    redisUrl: env['REDIS_URL'] ?? '',
    namespace: 'month',
  }
  const { faults, days, kills, final } = await runMonth(servers, {
    ...plan,
    report: (text) => t.log(text),
  })
  t.deepEqual(faults, [])
  t.is(days, plan.days)
  t.true(kills.length >= plan.kills)
  t.true((final?.counts['payouts executed'] ?? 0) > 0)
})
