import { randomInt } from 'node:crypto'
import test from 'ava'
import { crashes } from '../../scripts/faults/outages/crashes.js'
import { runScenario } from '../../scripts/faults/world/run-scenario.js'

test('crashes of PostgreSQL and of processes under load lose, double and half do nothing', async (t) => {
  t.timeout(400_000)
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- crashes --seed ${seed}`)
  const { faults, landed, payouts, events } = await runScenario(crashes, {
    seed,
    rounds: 2,
    concurrency: 3,
    creators: 2,
    acts: 8,
    report: (text) => t.log(text),
  })
  t.deepEqual(faults, [])
  t.true(landed > 0 && payouts > 0 && events > 0)
})
