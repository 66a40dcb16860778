import test from 'ava'
import { solMint } from '../../src/kernel/tokens.js'
import { useWorld } from '../helpers/world.js'

const world = useWorld(test, { chain: true })

test('a world with a chain has blocks, a funded treasury and prices', async (t) => {
  const { services, env, sandbox } = world()
  const treasury = env['TREASURY_WALLET'] ?? ''
  const { lastValidBlockHeight } = await services.chain.latestBlockhash()
  t.true(lastValidBlockHeight > 0)
  const { treasuryLamports } = await services.chain.transferAccounts(solMint, treasury, treasury)
  t.is(treasuryLamports, 1_000_000_000n)
  const prices = await services.prices.read([solMint])
  t.is(prices.get(solMint), 150_000_000_000_000n)
  t.true(sandbox.calls.httpRequests > 0)
})
