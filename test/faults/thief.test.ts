import { randomInt } from 'node:crypto'
import test from 'ava'
import { playThieves } from '../../scripts/faults/thief/play-all.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('whatever owner and thief do in whatever order, no money goes to the thief and the owner takes the account back', async (t) => {
  t.timeout(400_000)
  const { env } = world()
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- thief --seed ${seed}`)
  const servers = {
    databaseUrl: await world().newDatabaseUrl(),
    redisUrl: env['REDIS_URL'] ?? '',
    namespace: 'thief',
  }
  const plan = { seed, first: 1, count: 40, webs: 1, report: (text: string) => t.log(text) }
  const { faults } = await playThieves(servers, plan)
  t.deepEqual(faults, [])
})
