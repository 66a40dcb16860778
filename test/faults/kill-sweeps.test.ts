import { randomInt } from 'node:crypto'
import test from 'ava'
import { sweeps } from '../../scripts/faults/sweeps.js'
import { runScenario } from '../../scripts/faults/world/run-scenario.js'

test('when custodians and sweep commands are killed again and again, nothing moves twice and what is owed stays in custody', async (t) => {
  t.timeout(400_000)
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- sweeps --seed ${seed}`)
  const plan = { seed, rounds: 1, creators: 4, acts: 15, report: (text: string) => t.log(text) }
  const { faults, kills, counts } = await runScenario(sweeps(6), plan)
  t.deepEqual(faults, [])
  t.true(kills.length >= 6)
  t.true((counts['sweeps: final'] ?? 0) > 0)
})
