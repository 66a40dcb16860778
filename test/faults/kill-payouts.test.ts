import { randomInt } from 'node:crypto'
import test from 'ava'
import { payouts } from '../../scripts/faults/payouts.js'
import { drawProviderFaults } from '../../scripts/faults/provider-faults.js'
import { runScenario } from '../../scripts/faults/world/run-scenario.js'
import { chooseKillPoint, roles } from '../../scripts/kit/kill-points.js'

test('when web, payout workers and reconcilers are killed again and again, every withdrawal is sent at most once and its status matches its money', async (t) => {
  t.timeout(400_000)
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- payouts --seed ${seed}`)
  const [wanted, round] = [8, seed % 4]
  const plan = { seed, rounds: 1, creators: 4, acts: 10, report: (text: string) => t.log(text) }
  const { faults, kills, counts } = await runScenario(payouts(wanted, 'withdrawal', round), plan)
  t.deepEqual(faults, [])
  t.true((counts['payouts executed'] ?? 0) > 0)
  t.true(kills.length >= wanted)
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
