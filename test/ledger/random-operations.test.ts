import { randomBytes } from 'node:crypto'
import test from 'ava'
import { stressLedger } from '../../scripts/bench/ledger/stress.js'
import { useWorld } from '../helpers/servers/world.js'
import { listBrokenInvariants } from './support.js'

const world = useWorld(test)

test('random operations from four processes that are killed now and then never violate an invariant', async (t) => {
  const { db, env } = world()
  const seed = process.env['LEDGER_SEED'] ?? randomBytes(4).toString('hex')
  t.log(`LEDGER_SEED=${seed}`)
  const operations = 1200
  const result = await stressLedger({
    databaseUrl: env['DATABASE_URL'] ?? '',
    seed,
    operations,
    users: 5,
    killEvery: 100,
    sampleEveryMs: 200,
    report: () => undefined,
  })
  t.deepEqual(result.broken, [])
  t.deepEqual(await listBrokenInvariants(db), [])
  t.true(result.samples >= 2 && result.kills >= 4, JSON.stringify(result))
  t.true(result.posted > operations / 4 && result.refused > 0, JSON.stringify(result))
})
