import { randomInt } from 'node:crypto'
import test from 'ava'
import { hasNginx } from '../../scripts/faults/rolling/nginx.js'
import { runRolling } from '../../scripts/faults/rolling/rolling.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('restarts of every process under load, behind the shipped nginx if it is installed, fail no request and lose no event', async (t) => {
  t.timeout(200_000)
  const { env } = world()
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- rolling --seed ${seed}`)
  const servers = {
    databaseUrl: env['DATABASE_URL'] ?? '',
    redisUrl: env['REDIS_URL'] ?? '',
    namespace: 'rolling',
  }
  const { faults, restarts, recorded, events } = await runRolling(servers, {
    seed,
    rounds: 1,
    requests: 200,
    perSecond: 20,
    readers: 4,
    workers: [['verifier']],
    // The other one repeats nothing.
    router: hasNginx() ? 'nginx' : { pollMs: 250 },
    folder: process.cwd(),
    report: (text) => t.log(text),
  })
  t.deepEqual(faults, [])
  t.is(restarts, 3)
  t.true(recorded > 0 && events > 0)
})
