import test from 'ava'
import { withdrawThroughLostCommits } from '../../scripts/faults/lost-commits.js'
import { creatorWithBalance } from '../helpers/make/withdrawals.js'
import { startWebLosingCommits } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { listBrokenInvariants } from '../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })

test('a withdrawal whose COMMIT was not answered reserves the money once, however often it is repeated under its key', async (t) => {
  t.timeout(150_000)
  const ada = await creatorWithBalance(world(), 100)
  const { url, logs } = await startWebLosingCommits(t, world().env)
  const customer = { userId: ada.user.id, cookie: `session=${ada.session}` }
  const { first, faults } = await withdrawThroughLostCommits(world().db, url, customer, 15)
  t.log(`first answers: ${JSON.stringify(first)}`)
  for (const line of logs) if (line.level >= 50) t.log(JSON.stringify(line))
  t.deepEqual(faults, [])
  t.deepEqual(await listBrokenInvariants(world().db), [])
})
