import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'ava'
import { databasesOn, startServer } from '../../scripts/simulate/database.js'
import { type Plant, plants } from '../../scripts/simulate/plants.js'
import { simulate } from '../../scripts/simulate/run.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'

test('every promise is kept while all goes wrong, and the same seed tells the same story', async (t) => {
  t.timeout(400_000)
  const server = await startServer((stop) => t.teardown(stop), temporaryFolder(t))
  const databases = await databasesOn(server, 'simulated_')
  const seed = randomInt(1, 1e9)
  t.log(`seed ${seed}; a longer run: npm run simulate -- --seed ${seed}`)
  const plan = { seed, hours: 1, acts: 16, deduplicates: seed % 2 === 1 }
  const first = await simulate(databases, plan)
  t.deepEqual(first.faults, [], first.story.join('\n'))
  t.true(first.withdrawals > 0)
  const again = await simulate(databases, plan)
  t.deepEqual(again.story, first.story)
})

for (const [name, { file, from }] of Object.entries<Plant>(plants))
  test(`the rule that ${name} takes out is in the built code, once`, (t) => {
    const parts = readFileSync(`dist/${file}`, 'utf8').split(from)
    t.is(parts.length, 2)
  })
