import { randomInt } from 'node:crypto'
import test from 'ava'
import { runOverlays } from '../../scripts/faults/overlays.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('while web processes end and pages are loaded again, each overlay shows each alert once, alone and in order, and nothing held or hidden', async (t) => {
  t.timeout(180_000)
  const { env } = world()
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- overlays --seed ${seed}`)
  const servers = {
    databaseUrl: env['DATABASE_URL'] ?? '',
    redisUrl: env['REDIS_URL'] ?? '',
    namespace: 'overlays',
  }
  const plan = { seed, seconds: 6, rate: 20, overlays: 5, kill: 1, report: (text: string) => t.log(text) }
  const { faults, rows } = await runOverlays(servers, plan)
  t.log(rows.map((row) => row.join(': ')).join('; '))
  t.deepEqual(faults, [])
})
