import { randomInt } from 'node:crypto'
import test from 'ava'
import { rolling } from '../../scripts/faults/deploys.js'
import { runScenario } from '../../scripts/faults/world/run-scenario.js'

test('restarts of every process under load, behind the shipped nginx if it is installed, fail no request and lose no event', async (t) => {
  t.timeout(400_000)
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run faults -- rolling --seed ${seed}`)
  const { faults, counts } = await runScenario(rolling(1), {
    seed,
    rounds: 1,
    creators: 2,
    readers: 2,
    acts: 20,
    report: (text) => t.log(text),
  })
  t.deepEqual(faults, [])
  for (const name of ['crypto tips landed', 'events that came']) t.true((counts[name] ?? 0) > 0, name)
})
