import test from 'ava'
import { solMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { useWorld } from '../helpers/servers/world.js'

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

test('a world with a chain has both swap engines and a referral account', async (t) => {
  const { env, sandbox } = world()
  const query = new URLSearchParams({
    inputMint: solMint,
    outputMint: tokenBySymbol('USDC')?.mint ?? '',
    amount: '1000000000',
    referralAccount: env['AGGREGATOR_REFERRAL_ACCOUNT'] ?? '',
    referralFee: '200',
  })
  const [order, quote] = await Promise.all(
    [`${env['AGGREGATOR_ULTRA_URL']}/order`, `${env['AGGREGATOR_V6_URL']}/quote`].map((url) =>
      fetch(`${url}?${query}`).then((answer) => answer.json() as Promise<Record<string, unknown>>),
    ),
  )
  t.is(order?.['feeBps'], 200)
  t.is(quote?.['inAmount'], '1000000000')
  t.deepEqual(sandbox.aggregator.calls.all(), { order: 1, quote: 1 })
})
