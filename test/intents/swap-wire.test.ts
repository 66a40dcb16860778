import { VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { mintTokens } from '../../scripts/sandbox/chain/faucet.js'
import { latestBlockhash } from '../../scripts/sandbox/chain/rpc/cluster.js'
import { solMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { advanceMonotonicClock } from '../helpers/clock.js'
import { registerCreator } from '../helpers/make/creators.js'
import type { IntentBody } from '../helpers/make/intents.js'
import { createSupporter, type Supporter, unusedWallet } from '../helpers/make/supporter.js'
import type { ProxiedExchange } from '../helpers/proxies/sandbox-proxy.js'
import { useWorld } from '../helpers/servers/world.js'

// The wire formats of the swap engines. Each test changes one answer of the stand-in.

const apiKey = 'key-of-the-engines'
const world = useWorld(test, {
  chain: true,
  proxies: true,
  slotMs: 0,
  env: { AGGREGATOR_API_KEY: apiKey },
})
const usdc = tokenBySymbol('USDC')?.mint ?? ''
const unavailable = '503 Swap engines unavailable'
const noRoute = '422 No route for this token'
/** How long the app caches a blockhash. */
const blockhashMs = 1001
const enoughSlots = 100

let cents = 1000
const nextAmount = (): number => {
  cents += 1
  return cents / 100
}

type Answer = Record<string, unknown>
let creatorId = ''
let supporter: Supporter

/** A supporter with SOL, and a creator who receives USDC. */
test.beforeEach(async () => {
  if (creatorId !== '') return
  const creator = await registerCreator(world(), { autoConvertUsdc: true })
  creatorId = creator.user.id
  mintTokens(world().sandbox.chain, creator.wallet, usdc, 1n)
  supporter = createSupporter(world().sandbox)
  advance(enoughSlots)
})

test.afterEach.always(() => {
  world().sandbox.aggregator.reset()
  world().proxies.outside.replaceAnswer = undefined
})

function advance(slots: number): void {
  world().sandbox.chain.advance(slots)
  advanceMonotonicClock(blockhashMs)
}

/** Requests a tip with a unique amount: in the same block, equal tips would be one transaction. */
async function requestTip(
  amountUsd = nextAmount(),
): Promise<IntentBody & { status: unknown; error?: string; code: number }> {
  const body = { creatorId, amountUsd, inputTokenMint: solMint, sourceWalletAddress: supporter.wallet }
  const answer = await world().request<IntentBody & { error?: string }>('POST', '/payments/intent', { body })
  return { ...answer.body, code: answer.status }
}

/** The engine that built the swap, or the error. */
async function outcome(): Promise<string> {
  const { code, provider, error } = await requestTip()
  return code === 200 ? provider : `${code} ${error}`
}

/** Changes the answers of one endpoint. `undefined` removes a field. */
function reword(endpoint: string, change: (answer: Answer, exchange: ProxiedExchange) => Answer): void {
  world().proxies.outside.replaceAnswer = (exchange) =>
    exchange.path.startsWith(endpoint)
      ? { ...exchange.answer, ...change(exchange.answer, exchange) }
      : exchange.answer
}

const orderSays = (change: Answer | ((answer: Answer) => Answer)): void =>
  reword('/ultra/v1/order', (answer) => (typeof change === 'function' ? change(answer) : change))

/** Ultra has no route, and the answer of v6 is changed. */
function v6Says(endpoint: '/quote' | '/swap', change: Answer): void {
  world().sandbox.aggregator.set({ ultra: { mode: 'no-route' } })
  reword(`/swap/v1${endpoint}`, () => change)
}

/** The last valid height the engine sends, relative to the finalized block, and the one that is used. */
const heights: [sent: (floor: number) => unknown, used: number][] = [
  [() => undefined, 0],
  [() => null, 0],
  [() => '', 0],
  [() => 'soon', 0],
  [() => '0x7fffffff', 0],
  [() => -1, 0],
  [() => 0, 0],
  [(floor) => floor - 1, 0],
  [(floor) => floor + 0.5, 0],
  [(floor) => floor + 31, 31],
  [(floor) => String(floor + 31), 31],
  [(floor) => floor + 301, 0],
  [() => 2 ** 60, 0],
  [() => String(2 ** 60), 0],
]
test.serial('Ultra sends the last valid height as a number, as a text or not at all', async (t) => {
  const { chain } = world().sandbox
  const floor = latestBlockhash(chain, 'finalized').lastValidBlockHeight
  for (const [sent, used] of heights) {
    orderSays({ lastValidBlockHeight: sent(floor) })
    const { lastValidBlockHeight, provider } = await requestTip()
    t.is(provider, 'aggregator-ultra')
    t.is(lastValidBlockHeight - floor, used, String(sent(floor)))
  }
})

test.serial('transactions of v6 live as long as our blockhash, whatever height it sends', async (t) => {
  const { chain } = world().sandbox
  const { lastValidBlockHeight, blockhash } = latestBlockhash(chain, 'confirmed')
  for (const [sent] of heights) {
    v6Says('/swap', { lastValidBlockHeight: sent(lastValidBlockHeight) })
    const intent = await requestTip()
    t.is(intent.provider, 'aggregator-v6')
    t.is(intent.lastValidBlockHeight, lastValidBlockHeight, String(sent(lastValidBlockHeight)))
    const { message } = VersionedTransaction.deserialize(Buffer.from(intent.transaction, 'base64'))
    t.is(message.recentBlockhash, blockhash)
  }
})

for (const ultra of ['ok', 'down'] as const)
  test.serial(`with Ultra ${ultra}, a tip still lands at exactly the answered height`, async (t) => {
    const { aggregator, chain } = world().sandbox
    aggregator.set({ ultra: { mode: ultra } })
    const { transaction, lastValidBlockHeight } = await requestTip()
    advance(lastValidBlockHeight - chain.clock.slot)
    t.notThrows(() => supporter.pay(transaction))
  })

const ultraImpacts: [sent: Answer, percent: number | undefined][] = [
  [{ priceImpact: -0.5, priceImpactPct: '-0.005' }, 0.5],
  [{ priceImpact: '-0.5', priceImpactPct: '-0.005' }, 0.5],
  [{ priceImpact: -0.013_115, priceImpactPct: undefined }, 0.013_115],
  [{ priceImpact: undefined, priceImpactPct: '-0.005' }, 0.5],
  [{ priceImpact: null, priceImpactPct: -0.005 }, 0.5],
  [{ priceImpact: 0.25, priceImpactPct: '0.0025' }, 0.25],
  [{ priceImpact: 0, priceImpactPct: '0' }, 0],
  [{ priceImpact: undefined, priceImpactPct: undefined }, undefined],
  [{ priceImpact: 'little', priceImpactPct: '-0.005' }, undefined],
  [{ priceImpact: '', priceImpactPct: '-0.005' }, undefined],
]
test.serial('Ultra sends the price impact in percent, or in an older field as a fraction', async (t) => {
  for (const [sent, percent] of ultraImpacts) {
    orderSays(sent)
    const { provider, quote } = await requestTip()
    t.is(provider, percent === undefined ? 'aggregator-v6' : 'aggregator-ultra', JSON.stringify(sent))
    if (percent !== undefined) t.is(quote.priceImpactPct, percent, JSON.stringify(sent))
  }
})

const v6Impacts: [sent: unknown, percent: number | undefined][] = [
  ['0.005', 0.5],
  [0.005, 0.5],
  ['-0.005', 0.5],
  ['0', 0],
  ['0.00000000000000001', 0],
  ['5e-3', 0.5],
  ['', undefined],
  ['NaN', undefined],
  ['0,5', undefined],
  [undefined, undefined],
  [null, undefined],
]
test.serial('v6 sends the price impact as a fraction', async (t) => {
  for (const [sent, percent] of v6Impacts) {
    v6Says('/quote', { priceImpactPct: sent })
    const { code, quote, error } = await requestTip()
    t.is(
      percent === undefined ? `${code} ${error}` : quote.priceImpactPct,
      percent ?? unavailable,
      String(sent),
    )
  }
})

test.serial('an order that silently dropped our fee is refused', async (t) => {
  for (const feeBps of [199, 201, 50, 2, 0, null, undefined]) {
    orderSays({ feeBps })
    t.is(await outcome(), 'aggregator-v6', String(feeBps))
  }
  for (const platformFee of [null, undefined, { amount: '0', feeBps: 0 }, { amount: '1', feeBps: 199 }]) {
    v6Says('/quote', { platformFee })
    t.is(await outcome(), noRoute, JSON.stringify(platformFee))
  }
})

test.serial('an order with another fee payer or signer is refused', async (t) => {
  for (const [signatureFeePayer, engine] of [
    [unusedWallet(), 'aggregator-v6'],
    [supporter.wallet, 'aggregator-ultra'],
    [null, 'aggregator-ultra'],
    [undefined, 'aggregator-ultra'],
  ]) {
    orderSays({ signatureFeePayer })
    t.is(await outcome(), String(engine), String(signatureFeePayer))
  }
})

test.serial('an invalid or too large transaction is refused', async (t) => {
  for (const transaction of ['AAAA', '!!!!', 'gA==', Buffer.alloc(1233, 1).toString('base64')]) {
    orderSays({ transaction })
    t.is(await outcome(), 'aggregator-v6', transaction.slice(0, 8))
    v6Says('/swap', { swapTransaction: transaction })
    t.is(await outcome(), transaction.length > 1000 ? noRoute : unavailable, transaction.slice(0, 8))
  }
})

test.serial('an answer to another request is refused', async (t) => {
  for (const change of [
    { inputMint: usdc },
    { outputMint: solMint },
    { inAmount: '1' },
    { inAmount: 66_666_667 },
  ]) {
    orderSays(change)
    t.is(await outcome(), 'aggregator-v6', JSON.stringify(change))
    v6Says('/quote', change)
    t.is(await outcome(), unavailable, JSON.stringify(change))
  }
})

test.serial('amounts are whole numbers as text', async (t) => {
  for (const outAmount of ['', '1e6', '-1', '9.8', '0x10', '18446744073709551616', 9_800_000, null]) {
    orderSays({ outAmount })
    t.is(await outcome(), 'aggregator-v6', String(outAmount))
    v6Says('/quote', { outAmount })
    t.is(await outcome(), unavailable, String(outAmount))
  }
})

test.serial('for an order that pays slightly less the simulated amount is answered', async (t) => {
  let honest = 0n
  orderSays(({ outAmount }) => {
    honest = BigInt(String(outAmount))
    return { outAmount: String(honest + honest / 200n) }
  })
  const { provider, quote } = await requestTip()
  t.is(provider, 'aggregator-ultra')
  t.is(quote.outAmount, String(honest))
})

test.serial('a route too large for a packet is requested again with fewer accounts', async (t) => {
  world().sandbox.aggregator.set({ ultra: { mode: 'no-route' }, v6: { mode: 'oversized' } })
  const limits: number[] = []
  reword('/swap/v1/quote', (_, { path }) => {
    limits.push(Number(new URL(path, 'http://engine').searchParams.get('maxAccounts')))
    return {}
  })
  const { code, transaction } = await requestTip()
  t.is(code, 200)
  t.true(Buffer.from(transaction, 'base64').length <= 1232)
  t.true(limits.length > 1 && limits[0] === 64, limits.join())
  t.deepEqual(
    limits,
    limits.toSorted((a, b) => b - a),
  )
})

test.serial('v6 gets its quote back unchanged, with unknown fields', async (t) => {
  world().sandbox.aggregator.set({ ultra: { mode: 'no-route' } })
  let quoted: unknown
  let sentBody: Answer = {}
  world().proxies.outside.replaceAnswer = ({ path, answer, requestBody: body }) => {
    if (path.startsWith('/swap/v1/swap')) sentBody = body as Answer
    if (!path.startsWith('/swap/v1/quote')) return answer
    quoted = { ...answer, news: { deep: [1, null, 'x'] }, contextSlot: 9_007_199_254_740_991 }
    return quoted
  }
  const { code, intentId } = await requestTip()
  t.is(code, 200)
  t.deepEqual(sentBody['quoteResponse'], quoted)
  t.is(sentBody['userPublicKey'], supporter.wallet)
  const { reference_key: reference, message_hash: hash } = await world()
    .db('payment_intents')
    .where({ id: intentId })
    .first()
  t.is(sentBody['trackingAccount'], reference, 'the payment is found by its reference key')
  t.is(hash, null)
})

test.serial('Ultra is asked with one signer, our fee, the creator as receiver and our key', async (t) => {
  let seen: ProxiedExchange | undefined
  reword('/ultra/v1/order', (_, exchange) => {
    seen = exchange
    return {}
  })
  const { intentId } = await requestTip()
  const query = Object.fromEntries(new URL(seen?.path ?? '', 'http://engine').searchParams)
  const row = await world().db('payment_intents').where({ id: intentId }).first()
  t.deepEqual(query, {
    inputMint: solMint,
    outputMint: usdc,
    amount: row.input_raw,
    taker: supporter.wallet,
    receiver: row.payout_wallet,
    referralAccount: world().sandbox.aggregator.referralAccount,
    referralFee: '200',
    excludeRouters: 'jupiterz,dflow,okx',
  })
  t.is(seen?.headers['x-api-key'], apiKey)
  t.is(row.reference_key, null, 'an order cannot carry one')
  t.is(row.message_hash.length, 32)
})

test.serial('of equal tips within a block the second is built by the other engine', async (t) => {
  const amount = nextAmount()
  const [first, second] = [await requestTip(amount), await requestTip(amount)]
  t.is(first.provider, 'aggregator-ultra')
  t.is(second.provider, 'aggregator-v6')
  const same = nextAmount()
  const at = await Promise.all(Array.from({ length: 4 }, () => requestTip(same)))
  t.deepEqual(
    at.map(({ code }) => code),
    [200, 200, 200, 200],
  )
  t.is(new Set(at.map(({ transaction }) => transaction)).size, 4)
  world().sandbox.aggregator.set({ v6: { mode: 'no-route' } })
  const { code, error } = await requestTip(same)
  t.is(`${code} ${error}`, unavailable, 'a route exists, but not now')
  advance(1)
  t.is((await requestTip(same)).provider, 'aggregator-ultra')
})
