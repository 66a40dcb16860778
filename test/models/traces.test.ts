import { randomInt } from 'node:crypto'
import test from 'ava'
import { databasesOn } from '../../scripts/simulate/database.js'
import { testServers } from '../helpers/servers/database.js'
import type { Setting } from './outgoing/state.js'
import { Met } from './traces/draw.js'
import { everything, replayTraces } from './traces/replay.js'

const { server, prefix } = testServers()
const databases = databasesOn(server, `${prefix}traces_`)
const seed = Number(process.env['TEST_SEED'] ?? randomInt(1, 1e9))

test.serial('the product does what the model of outgoing money says, in any order', async (t) => {
  t.timeout(400_000)
  t.log(`TEST_SEED=${seed}; more: npm run models -- --traces 1000`)
  for (const deduplicates of [false, true]) {
    const { steps, difference } = await replay({ ...everything, deduplicates }, 20)
    t.is(difference, undefined, difference)
    t.true(steps > 0)
  }
})

test.serial('a product that does otherwise is found', async (t) => {
  t.timeout(400_000)
  const { difference = '' } = await replay(
    { ...everything, without: 'sending is committed before the request' },
    30,
  )
  t.regex(difference, /the worker records that it is about to send\n/)
})

async function replay(setting: Setting, traces: number) {
  return replayTraces(await databases, { seed, traces, setting, met: new Met() })
}
