import test from 'ava'
import { mintTokens, requestAirdrop } from '../../../scripts/sandbox/chain/faucet.js'
import { solMint, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { TokenPrices } from '../../../src/market/token-prices.js'
import { createTokenBalances } from '../../../src/tips/read/wallet-tokens.js'
import { registerCreator, registerPerson } from '../../helpers/make/creators.js'
import { unusedWallet } from '../../helpers/make/supporter.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { chain: true, proxies: true })
const usdt = tokenBySymbol('USDT')?.mint ?? ''
const usdc = tokenBySymbol('USDC')?.mint ?? ''

const read = (session: string) =>
  world().request<{ tokens: readonly unknown[]; error: string }>('GET', '/creators/balance/tokens', {
    session,
  })

/** The node shows a landed transaction a moment later. */
async function untilLanded(wallet: string, mint: string, amount: bigint): Promise<void> {
  await until('the chain shows the balance', async () => {
    const balances = await world().services.chain.walletBalances(wallet, [mint])
    return balances.get(mint) === amount
  })
}

test('GET /creators/balance/tokens lists the tokens of the wallet besides USDC with their value', async (t) => {
  await new TokenPrices(world().services).refresh()
  const { session, wallet } = await registerCreator(world())
  const { chain } = world().sandbox
  mintTokens(chain, wallet, usdc, 7_000_000n)
  mintTokens(chain, wallet, usdt, 2_500_000n)
  requestAirdrop(chain, wallet, 1_000_000_000n)
  await untilLanded(wallet, solMint, 1_000_000_000n)
  const { status, body } = await read(session)
  t.is(status, 200)
  t.deepEqual(body.tokens, [
    { symbol: 'SOL', mint: solMint, amount: 1, valueUsd: 150 },
    { symbol: 'USDT', mint: usdt, amount: 2.5, valueUsd: 2.5 },
  ])
})

test('an account without a wallet and an empty wallet have no tokens', async (t) => {
  const { session } = await registerPerson(world())
  const { body } = await read(session)
  t.deepEqual(body.tokens, [])
  const empty = await registerCreator(world())
  t.deepEqual((await read(empty.session)).body.tokens, [])
})

test.serial('without an answer of the chain it is 503, and the next request asks again', async (t) => {
  const { session } = await registerCreator(world())
  const { outside } = world().proxies
  outside.intervene = (path) => (path === '/' ? 'close' : undefined)
  t.teardown(() => Object.assign(outside, { intervene: undefined }))
  const refused = await read(session)
  t.is(refused.status, 503)
  t.is(refused.body.error, 'Service unavailable')
  outside.intervene = undefined
  await until('the chain is asked again', async () => (await read(session)).status === 200)
})

test('a page that reads every second gets new balances after ten seconds', async (t) => {
  const { services, sandbox } = world()
  const wallet = unusedWallet()
  let now = 1
  const balances = createTokenBalances(services, { now: () => now })
  t.deepEqual(await balances(wallet), [])
  requestAirdrop(sandbox.chain, wallet, 2_000_000_000n)
  await untilLanded(wallet, solMint, 2_000_000_000n)
  for (let second = 1; second <= 10; second++) {
    now += 1000
    t.deepEqual(await balances(wallet), [], `${second} s: the chain is not read for each request`)
  }
  now += 1000
  t.like(await balances(wallet), [{ symbol: 'SOL', amount: 2 }])
})
