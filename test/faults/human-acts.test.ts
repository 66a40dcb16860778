import { randomInt } from 'node:crypto'
import test from 'ava'
import { runHumanActs } from '../../scripts/faults/acts/human-acts.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('a random order of human acts breaks no promise about money', async (t) => {
  t.timeout(120_000)
  const { env } = world()
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- acts --seed ${seed}`)
  const servers = {
    databaseUrl: env['DATABASE_URL'] ?? '',
    redisUrl: env['REDIS_URL'] ?? '',
    namespace: env['REDIS_NAMESPACE'] ?? '',
  }
  const result = await runHumanActs(servers, { seed, steps: 300, report: (text) => t.log(text) })
  t.is(result.broken, undefined)
  t.true(result.executed > 0)
})
