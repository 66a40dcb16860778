import { randomInt } from 'node:crypto'
import test from 'ava'
import { crashes } from '../../scripts/faults/outages.js'
import { runScenario } from '../../scripts/faults/world/run-scenario.js'

test('crashes of PostgreSQL and of processes under load lose, double and half do nothing', async (t) => {
  t.timeout(400_000)
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- crashes --seed ${seed}`)
  const { faults, counts } = await runScenario(crashes, {
    seed,
    rounds: 2,
    concurrency: 3,
    creators: 2,
    acts: 8,
    report: (text) => t.log(text),
  })
  t.deepEqual(faults, [])
  for (const name of ['crypto tips landed', 'payouts executed', 'events that came'])
    t.true((counts[name] ?? 0) > 0, name)
})
