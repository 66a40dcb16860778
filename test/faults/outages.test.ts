import { randomInt } from 'node:crypto'
import test from 'ava'
import { runOutage } from '../../scripts/faults/outages/run.js'
import { crashes } from '../../scripts/faults/outages/scenarios/crashes.js'

test('crashes of PostgreSQL and of processes under load lose, double and half do nothing', async (t) => {
  t.timeout(400_000)
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- crashes --seed ${seed}`)
  const { faults, disturbances, landed, payouts, events } = await runOutage(crashes, {
    seed,
    rounds: 2,
    concurrency: 3,
    creators: 2,
    acts: 8,
    report: (text) => t.log(text),
  })
  t.deepEqual(faults, [])
  t.is(disturbances.length, 2)
  t.true(landed > 0 && payouts > 0 && events > 0)
})
