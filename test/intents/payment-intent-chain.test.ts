import { PublicKey } from '@solana/web3.js'
import test from 'ava'
import { associatedAccount, mintTokens, requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { solMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import { provisionerBatch, registerPerson } from '../helpers/make/creators.js'
import { createIntent, type IntentBody } from '../helpers/make/intents.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { runBatch, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

/** An empty treasury. */
const treasury = unusedWallet()
const world = useWorld(test, {
  chain: true,
  proxies: true,
  env: { TREASURY_WALLET: treasury, WALLET_WAIT_MS: '4000' },
})
const usdc = tokenBySymbol('USDC')?.mint ?? ''
const body = { creatorId: unusedWallet(), sourceWalletAddress: unusedWallet() }

const leftOut = () => countAlerts(world(), 'fee_leg_left_out')

async function quoted(mint: string, amount: number): Promise<string> {
  const intent = await createIntent(world().request, { ...body, inputTokenMint: mint, amount })
  const stored = await world().db('payment_intents').where({ id: intent.intentId }).first()
  return `${intent.quote.outAmount} + ${stored.fee_raw}`
}

test.serial('a tip whose fee rounds to zero raises no alert', async (t) => {
  const before = await leftOut()
  const bonk = tokenBySymbol('BONK')?.mint ?? ''
  world().sandbox.prices.set(bonk, 1000)
  // 49 base units: 2 % of them is 0.98.
  t.is(await quoted(bonk, 0.00049), '49 + 0')
  t.is(await leftOut(), before)
})

test.serial('if the treasury cannot receive the fee, the creator gets all, with an alert', async (t) => {
  t.is(await quoted(solMint, 0.01), '10000000 + 0')
  t.is(await quoted(usdc, 1), '1000000 + 0')
  t.is(await leftOut(), 2)
})

test.serial('a fee that brings the treasury up to its rent exemption is taken', async (t) => {
  // 2 % of 0.044544 SOL is 890,880 lamports: exactly the rent.
  t.is(await quoted(solMint, 0.044544), '43653120 + 890880')
  t.is(await quoted(solMint, 0.04454395), '44543950 + 0')
})

test.serial('a treasury without a token account misses only the fee in that token', async (t) => {
  requestAirdrop(world().sandbox.chain, treasury, 1_000_000_000n)
  await until('the treasury is funded', async () => (await quoted(solMint, 0.01)) === '9800000 + 200000')
  t.is(await quoted(usdc, 1), '1000000 + 0')
  t.falsy(world().sandbox.chain.svm.account(associatedAccount(treasury, usdc).toBase58()))
})

test.serial('what is no token account, or is frozen, receives no fee', async (t) => {
  const { chain } = world().sandbox
  const account = associatedAccount(treasury, usdc)
  requestAirdrop(chain, account.toBase58(), 1_000_000_000n)
  await until('there is SOL at its address', async () => chain.svm.account(account.toBase58()) !== undefined)
  t.is(await quoted(usdc, 1), '1000000 + 0')
  const owner = unusedWallet()
  mintTokens(chain, owner, usdc, 1n)
  const opened = chain.svm.account(associatedAccount(owner, usdc).toBase58())
  if (opened === undefined) throw new Error('no account')
  const data = Buffer.from(opened.data)
  data.set(new PublicKey(treasury).toBytes(), 32)
  chain.setAccount(account.toBase58(), { ...opened, data })
  t.is(await quoted(usdc, 1), '980000 + 20000')
  data[108] = 2
  chain.setAccount(account.toBase58(), { ...opened, data })
  t.is(await quoted(usdc, 1), '1000000 + 0')
})

for (const [name, fault] of [
  ['answers HTML', { answer: 'html' }],
  ['answers 429', { answer: '429' }],
] as const)
  test.serial(`a chain that ${name} causes a 503, and its recovery needs no restart`, async (t) => {
    const { sandbox, request } = world()
    const requestIntent = () =>
      request('POST', '/payments/intent', { body: { ...body, inputTokenMint: usdc, amount: 1 } })
    sandbox.faults.set(fault)
    t.teardown(() => sandbox.faults.clear())
    const { status, body: refused } = await requestIntent()
    t.is(`${status} ${refused.error}`, '503 Service unavailable')
    sandbox.faults.clear()
    t.is((await requestIntent()).status, 200)
  })

for (const [name, reply] of [
  ['hangs up', undefined],
  ['refuses every call', { error: { code: -32005, message: 'Node is behind by 42 slots' } }],
  ['answers nonsense', { result: { value: 'nonsense' } }],
  ['answers null', { result: null }],
] as const)
  test.serial(`a chain that ${name} causes a 503 without details of the chain`, async (t) => {
    const { proxies, request } = world()
    const requestIntent = () =>
      request('POST', '/payments/intent', { body: { ...body, inputTokenMint: usdc, amount: 1 } })
    if (reply === undefined) proxies.outside.intervene = (path) => (path === '/' ? 'close' : undefined)
    else proxies.outside.alterReply = (_method, _params, { id }) => ({ id, ...reply })
    t.teardown(() => Object.assign(proxies.outside, { intervene: undefined, alterReply: undefined }))
    const { status, body: refused } = await requestIntent()
    t.is(`${status} ${refused.error}`, '503 Service unavailable')
    Object.assign(proxies.outside, { intervene: undefined, alterReply: undefined })
    t.is((await requestIntent()).status, 200)
  })

test.serial('an intent waits for a wallet that is being provisioned', async (t) => {
  const { user } = await registerPerson(world())
  const pendingRequest = world().request<IntentBody>('POST', '/payments/intent', {
    body: { ...body, creatorId: user.id, inputTokenMint: usdc, amount: 1 },
  })
  await runBatch(provisionerBatch(world()))
  const { status, body: intent } = await pendingRequest
  t.is(status, 200)
  const { public_key: wallet } = await world().db('wallets').where({ user_id: user.id }).first()
  const stored = await world().db('payment_intents').where({ id: intent.intentId }).first()
  t.is(stored.payout_wallet, wallet)
})

test.serial('a wallet that is never provisioned causes a 409 at about the configured time', async (t) => {
  const { user } = await registerPerson(world())
  const startedAt = performance.now()
  const { status, body: refused } = await world().request('POST', '/payments/intent', {
    body: { ...body, creatorId: user.id, inputTokenMint: usdc, amount: 1 },
  })
  const tookMs = performance.now() - startedAt
  t.is(`${status} ${refused.error}`, '409 Creator wallet is being provisioned')
  t.true(tookMs >= 3995 && tookMs < 20_000, `${tookMs} ms`)
})

test.serial('the wait also works without Redis', async (t) => {
  const { proxies } = world()
  proxies.redis.hold(true)
  t.teardown(() => proxies.redis.hold(false))
  const { user } = await registerPerson(world())
  const pendingRequest = world().request('POST', '/payments/intent', {
    body: { ...body, creatorId: user.id, inputTokenMint: usdc, amount: 1 },
  })
  await runBatch(provisionerBatch(world()))
  t.is((await pendingRequest).status, 200)
})
