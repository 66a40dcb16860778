import { randomInt } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { runHumanActs } from '../../scripts/faults/acts/human-acts.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

test('a random order of human acts breaks no promise about money', async (t) => {
  t.timeout(120_000)
  let executed = 0
  // Where the exchange rate is held back from the beginning, nobody can withdraw: then another seed.
  for (let times = 0; executed === 0 && times < 3; times++)
    executed = await runWithSeed(t, randomInt(1, 1e9), times)
  t.true(executed > 0)
})

/** How many withdrawals were executed. */
async function runWithSeed(t: ExecutionContext, seed: number, times: number): Promise<number> {
  const { env } = world()
  const redisUrl = env['REDIS_URL'] ?? ''
  let executed = 0
  for (const [deduplicates, steps] of [
    [true, 140],
    [false, 40],
  ] as const) {
    const command = `npm run faults -- acts --seed ${seed}${deduplicates ? '' : ' --no-deduplicates'}`
    t.log(`seed ${seed}; a longer run: ${command}`)
    const databaseUrl = await world().newDatabaseUrl()
    const namespace = `human-acts-${times}-${deduplicates}`
    const servers = { databaseUrl, redisUrl, namespace }
    const report = (text: string) => t.log(text)
    const result = await runHumanActs(servers, { seed, steps, deduplicates, report })
    t.deepEqual(result.faults, [])
    executed += result.executed
  }
  return executed
}
