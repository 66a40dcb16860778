import { randomInt } from 'node:crypto'
import test from 'ava'
import { mixtureOf } from '../../scripts/faults/mixture.js'
import { killPayouts } from '../../scripts/faults/payouts.js'
import { failPoint, roles } from '../../scripts/faults/points.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('however often the web, the payout workers and the reconcilers are killed, every withdrawal is sent at most once and ends where its money is', async (t) => {
  t.timeout(180_000)
  const { env } = world()
  const seed = randomInt(1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- payouts --seed ${seed}`)
  const ground = {
    databaseUrl: env['DATABASE_URL'] ?? '',
    redisUrl: env['REDIS_URL'] ?? '',
    namespace: env['REDIS_NAMESPACE'] ?? '',
  }
  const plan = { seed, firstChapter: seed % 4, chapters: 1, killsPerChapter: 8 }
  const [chapter] = await killPayouts(ground, { ...plan, tell: (text) => t.log(text) })
  t.deepEqual(chapter?.verdict.faults, [])
  t.true((chapter?.verdict.withdrawals ?? 0) > 0)
  t.true((chapter?.kills.length ?? 0) >= plan.killsPerChapter)
})

test('the same seed kills at the same points and makes the same provider', (t) => {
  for (const role of roles) {
    const points = (seed: number) => Array.from({ length: 50 }, (_, n) => failPoint(seed, role, n))
    t.deepEqual(points(7), points(7))
    t.notDeepEqual(points(7), points(8))
  }
  t.deepEqual(mixtureOf(7, 3), mixtureOf(7, 3))
  t.false(mixtureOf(7, 3).deduplicates)
})
