import test from 'ava'
import { raceForBalance } from '../../scripts/faults/full-balance.js'
import { balanceOf, creatorWith, historyOf } from '../helpers/make/payouts.js'
import { startWeb } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { brokenNow } from '../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })
const rounds = 2
const requests = 500

test('of 500 withdrawals of the whole balance at once from two processes exactly one succeeds', async (t) => {
  t.timeout(120_000)
  const webs = await Promise.all([startWeb(t, world().env), startWeb(t, world().env)])
  const urls = webs.map(({ url }) => url)
  for (let round = 0; round < rounds; round++) {
    const ada = await creatorWith(world(), 20)
    const { won, others } = await raceForBalance(urls, `session=${ada.session}`, 20, requests)
    t.is(won, 1)
    t.deepEqual(others, { '400 Insufficient Balance': requests - 1 })
    t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
    t.is((await historyOf(world(), ada)).length, 1)
  }
  t.deepEqual(await brokenNow(world().db), [])
})
