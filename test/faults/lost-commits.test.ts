import test from 'ava'
import { loseCommits } from '../../scripts/faults/lost-commits.js'
import { creatorWith } from '../helpers/make/payouts.js'
import { startWebThatLosesCommits } from '../helpers/servers/payout-processes.js'
import { useWorld } from '../helpers/servers/world.js'
import { brokenNow } from '../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })

test('a withdrawal whose COMMIT was not answered is held once, however often it is repeated under its key', async (t) => {
  t.timeout(150_000)
  const ada = await creatorWith(world(), 100)
  const { url, logs } = await startWebThatLosesCommits(t, world().env)
  const customer = { userId: ada.user.id, cookie: `session=${ada.session}` }
  const { first, faults } = await loseCommits(world().db, url, customer, 15)
  t.log(`first answers: ${JSON.stringify(first)}`)
  for (const line of logs) if (line.level >= 50) t.log(JSON.stringify(line))
  t.deepEqual(faults, [])
  t.deepEqual(await brokenNow(world().db), [])
})
