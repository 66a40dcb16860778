import test from 'ava'
import { raceForBalance } from '../../scripts/faults/full-balance.js'
import { creatorWithBalance, listHistory, readBalance } from '../helpers/make/withdrawals.js'
import { startWeb } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { listBrokenInvariants } from '../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })
const rounds = 2
const requests = 500

test('of 500 concurrent withdrawals of the whole balance through two processes exactly one succeeds', async (t) => {
  t.timeout(120_000)
  const webs = await Promise.all([startWeb(t, world().env), startWeb(t, world().env)])
  const urls = webs.map(({ url }) => url)
  for (let round = 0; round < rounds; round++) {
    const ada = await creatorWithBalance(world(), 20)
    const { succeeded, others } = await raceForBalance(urls, `session=${ada.session}`, 20, requests)
    t.is(succeeded, 1)
    t.deepEqual(others, { '400 Insufficient Balance': requests - 1 })
    t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
    t.is((await listHistory(world(), ada)).length, 1)
  }
  t.deepEqual(await listBrokenInvariants(world().db), [])
})
