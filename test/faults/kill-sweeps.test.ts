import { randomInt } from 'node:crypto'
import test from 'ava'
import { killSweeps } from '../../scripts/faults/sweeps/kill-sweeps.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('when custodians and sweep commands are killed again and again, nothing moves twice and what is owed stays in custody', async (t) => {
  t.timeout(240_000)
  const { env } = world()
  const seed = randomInt(1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- sweeps --seed ${seed}`)
  const servers = {
    databaseUrl: env['DATABASE_URL'] ?? '',
    redisUrl: env['REDIS_URL'] ?? '',
    namespace: 'kill-sweeps',
  }
  const plan = { seed, rounds: 1, killsPerRound: 6, report: (text: string) => t.log(text) }
  const [round] = await killSweeps(servers, plan)
  t.deepEqual(round?.comparison.faults, [])
  t.true((round?.comparison.sweptMicro ?? 0n) > 0n)
})
