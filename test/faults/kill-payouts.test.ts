import { randomInt } from 'node:crypto'
import test from 'ava'
import { killPayouts } from '../../scripts/faults/kill-payouts.js'
import { chooseKillPoint, roles } from '../../scripts/faults/kill-points.js'
import { drawProviderFaults } from '../../scripts/faults/provider-faults.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('when web, payout workers and reconcilers are killed again and again, every withdrawal is sent at most once and its status matches its money', async (t) => {
  t.timeout(180_000)
  const { env } = world()
  const seed = randomInt(1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- payouts --seed ${seed}`)
  const servers = {
    databaseUrl: env['DATABASE_URL'] ?? '',
    redisUrl: env['REDIS_URL'] ?? '',
    namespace: 'kill-payouts',
  }
  const plan = { seed, firstRound: seed % 4, rounds: 1, killsPerRound: 8 }
  const [round] = await killPayouts(servers, { ...plan, report: (text) => t.log(text) })
  t.deepEqual(round?.comparison.faults, [])
  t.true((round?.comparison.withdrawals ?? 0) > 0)
  t.true((round?.kills.length ?? 0) >= plan.killsPerRound)
})

test('the same seed gives the same kill points and the same provider faults', (t) => {
  for (const role of roles) {
    const points = (seed: number) => Array.from({ length: 50 }, (_, n) => chooseKillPoint(seed, role, n))
    t.deepEqual(points(7), points(7))
    t.notDeepEqual(points(7), points(8))
  }
  t.deepEqual(drawProviderFaults(7, 3), drawProviderFaults(7, 3))
  t.false(drawProviderFaults(7, 3).deduplicates)
})
