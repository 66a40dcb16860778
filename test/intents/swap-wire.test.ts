import { VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { mintTokens } from '../../scripts/sandbox/chain/faucet.js'
import { latestBlockhash } from '../../scripts/sandbox/chain/rpc/cluster.js'
import { solMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { moveClock } from '../helpers/clock.js'
import { registerCreator } from '../helpers/make/creators.js'
import type { IntentBody } from '../helpers/make/intents.js'
import { createSupporter, type Supporter, strangerWallet } from '../helpers/make/supporter.js'
import type { Exchange } from '../helpers/servers/outside-proxy.js'
import { useWorld } from '../helpers/servers/world.js'

// The traps of the engines' wire formats, one by one: an answer of the stand-in is changed on its way.

const apiKey = 'key-of-the-engines'
const world = useWorld(test, {
  chain: true,
  taps: true,
  slotMs: 0,
  env: { AGGREGATOR_API_KEY: apiKey },
})
const usdc = tokenBySymbol('USDC')?.mint ?? ''
const away = '503 Swap engines unavailable'
const noRoute = '422 No route for this token'
/** How long the app keeps a blockhash. */
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

/** Somebody who has SOL, and a creator who wants USDC. */
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
  world().taps.outside.reword = undefined
})

function advance(slots: number): void {
  world().sandbox.chain.advance(slots)
  moveClock(blockhashMs)
}

/** Asks for a tip like no other: in a block that stands still, equal ones would be one transaction. */
async function ask(
  amountUsd = nextAmount(),
): Promise<IntentBody & { status: unknown; error?: string; code: number }> {
  const body = { creatorId, amountUsd, inputTokenMint: solMint, sourceWalletAddress: supporter.wallet }
  const answer = await world().request<IntentBody & { error?: string }>('POST', '/payments/intent', { body })
  return { ...answer.body, code: answer.status }
}

/** The engine that made the tip, or the refusal. */
async function made(): Promise<string> {
  const { code, provider, error } = await ask()
  return code === 200 ? provider : `${code} ${error}`
}

/** Changes the answers to one endpoint. An `undefined` takes a field out. */
function reword(endpoint: string, change: (answer: Answer, exchange: Exchange) => Answer): void {
  world().taps.outside.reword = (exchange) =>
    exchange.path.startsWith(endpoint)
      ? { ...exchange.answer, ...change(exchange.answer, exchange) }
      : exchange.answer
}

const orderSays = (change: Answer | ((answer: Answer) => Answer)): void =>
  reword('/ultra/v1/order', (answer) => (typeof change === 'function' ? change(answer) : change))

/** Ultra has no route; what the other engine says is changed. */
function v6Says(endpoint: '/quote' | '/swap', change: Answer): void {
  world().sandbox.aggregator.set({ ultra: { mode: 'no-route' } })
  reword(`/swap/v1${endpoint}`, () => change)
}

/** What is told of the last valid height, seen from the finalized block's, and what is believed of it. */
const heights: [told: (floor: number) => unknown, believed: number][] = [
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
test.serial('Ultra tells the last valid height as a number, as a text or not at all', async (t) => {
  const { chain } = world().sandbox
  const floor = latestBlockhash(chain, 'finalized').lastValidBlockHeight
  for (const [told, believed] of heights) {
    orderSays({ lastValidBlockHeight: told(floor) })
    const { lastValidBlockHeight, provider } = await ask()
    t.is(provider, 'aggregator-ultra')
    t.is(lastValidBlockHeight - floor, believed, String(told(floor)))
  }
})

test.serial("v6's transactions live as long as a block we chose, whatever the engine tells", async (t) => {
  const { chain } = world().sandbox
  const { lastValidBlockHeight, blockhash } = latestBlockhash(chain, 'confirmed')
  for (const [told] of heights) {
    v6Says('/swap', { lastValidBlockHeight: told(lastValidBlockHeight) })
    const intent = await ask()
    t.is(intent.provider, 'aggregator-v6')
    t.is(intent.lastValidBlockHeight, lastValidBlockHeight, String(told(lastValidBlockHeight)))
    const { message } = VersionedTransaction.deserialize(Buffer.from(intent.transaction, 'base64'))
    t.is(message.recentBlockhash, blockhash)
  }
})

for (const ultra of ['ok', 'down'] as const)
  test.serial(`with Ultra ${ultra}, a tip still lands at the very height that was told`, async (t) => {
    const { aggregator, chain } = world().sandbox
    aggregator.set({ ultra: { mode: ultra, height: 'none' }, v6: { mode: 'ok', height: 'none' } })
    const { transaction, lastValidBlockHeight } = await ask()
    advance(lastValidBlockHeight - chain.clock.slot)
    t.notThrows(() => supporter.pay(transaction))
  })

const ultraImpacts: [told: Answer, percent: number | undefined][] = [
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
test.serial(
  'Ultra tells the price impact in percent, and formerly as a fraction; a loss is negative',
  async (t) => {
    for (const [told, percent] of ultraImpacts) {
      orderSays(told)
      const { provider, quote } = await ask()
      t.is(provider, percent === undefined ? 'aggregator-v6' : 'aggregator-ultra', JSON.stringify(told))
      if (percent !== undefined) t.is(quote.priceImpactPct, percent, JSON.stringify(told))
    }
  },
)

const v6Impacts: [told: unknown, percent: number | undefined][] = [
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
test.serial('v6 tells the price impact as a fraction', async (t) => {
  for (const [told, percent] of v6Impacts) {
    v6Says('/quote', { priceImpactPct: told })
    const { code, quote, error } = await ask()
    t.is(percent === undefined ? `${code} ${error}` : quote.priceImpactPct, percent ?? away, String(told))
  }
})

test.serial('an order that dropped our fee in silence is not taken', async (t) => {
  for (const feeBps of [199, 201, 50, 2, 0, null, undefined]) {
    orderSays({ feeBps })
    t.is(await made(), 'aggregator-v6', String(feeBps))
  }
  for (const platformFee of [null, undefined, { amount: '0', feeBps: 0 }, { amount: '1', feeBps: 199 }]) {
    v6Says('/quote', { platformFee })
    t.is(await made(), noRoute, JSON.stringify(platformFee))
  }
})

test.serial('an order somebody else pays for or signs too is not taken', async (t) => {
  for (const [signatureFeePayer, engine] of [
    [strangerWallet(), 'aggregator-v6'],
    [supporter.wallet, 'aggregator-ultra'],
    [null, 'aggregator-ultra'],
    [undefined, 'aggregator-ultra'],
  ]) {
    orderSays({ signatureFeePayer })
    t.is(await made(), String(engine), String(signatureFeePayer))
  }
})

test.serial('an order with an error code in place of a transaction is none', async (t) => {
  for (const transaction of ['', null, undefined])
    for (const errorCode of [1, 2, 3, '1', undefined]) {
      orderSays({ transaction, errorCode, errorMessage: 'Insufficient funds' })
      t.is(await made(), 'aggregator-v6', `${transaction} ${errorCode}`)
    }
})

test.serial('what is no transaction, or too large a one, is none', async (t) => {
  for (const transaction of ['AAAA', '!!!!', 'gA==', Buffer.alloc(1233, 1).toString('base64')]) {
    orderSays({ transaction })
    t.is(await made(), 'aggregator-v6', transaction.slice(0, 8))
    v6Says('/swap', { swapTransaction: transaction })
    t.is(await made(), transaction.length > 1000 ? noRoute : away, transaction.slice(0, 8))
  }
})

test.serial('an answer to another question is none', async (t) => {
  for (const change of [
    { inputMint: usdc },
    { outputMint: solMint },
    { inAmount: '1' },
    { inAmount: 66_666_667 },
  ]) {
    orderSays(change)
    t.is(await made(), 'aggregator-v6', JSON.stringify(change))
    v6Says('/quote', change)
    t.is(await made(), away, JSON.stringify(change))
  }
})

test.serial('amounts are whole numbers as text', async (t) => {
  for (const outAmount of ['', '1e6', '-1', '9.8', '0x10', '18446744073709551616', 9_800_000, null]) {
    orderSays({ outAmount })
    t.is(await made(), 'aggregator-v6', String(outAmount))
    v6Says('/quote', { outAmount })
    t.is(await made(), away, String(outAmount))
  }
})

test.serial('promises nobody can keep are not passed on: less arrives, so the order is none', async (t) => {
  orderSays(({ outAmount }) => ({ outAmount: String(BigInt(String(outAmount)) * 2n) }))
  t.is(await made(), 'aggregator-v6')
})

test.serial('a promise that is a hair too high is told as what arrives', async (t) => {
  let honest = 0n
  orderSays(({ outAmount }) => {
    honest = BigInt(String(outAmount))
    return { outAmount: String(honest + honest / 200n) }
  })
  const { provider, quote } = await ask()
  t.is(provider, 'aggregator-ultra')
  t.is(quote.outAmount, String(honest))
})

test.serial('a route too large for a packet is asked for again with fewer accounts', async (t) => {
  world().sandbox.aggregator.set({ ultra: { mode: 'no-route' }, v6: { mode: 'oversized' } })
  const limits: number[] = []
  reword('/swap/v1/quote', (_, { path }) => {
    limits.push(Number(new URL(path, 'http://engine').searchParams.get('maxAccounts')))
    return {}
  })
  const { code, transaction } = await ask()
  t.is(code, 200)
  t.true(Buffer.from(transaction, 'base64').length <= 1232)
  t.true(limits.length > 1 && limits[0] === 64, limits.join())
  t.deepEqual(
    limits,
    limits.toSorted((a, b) => b - a),
  )
})

test.serial('v6 gets its quote back as it was, with fields nobody knows', async (t) => {
  world().sandbox.aggregator.set({ ultra: { mode: 'no-route' } })
  let quoted: unknown
  let asked: Answer = {}
  world().taps.outside.reword = ({ path, answer, asked: body }) => {
    if (path.startsWith('/swap/v1/swap')) asked = body as Answer
    if (!path.startsWith('/swap/v1/quote')) return answer
    quoted = { ...answer, news: { deep: [1, null, 'x'] }, contextSlot: 9_007_199_254_740_991 }
    return quoted
  }
  const { code, intentId } = await ask()
  t.is(code, 200)
  t.deepEqual(asked['quoteResponse'], quoted)
  t.is(asked['userPublicKey'], supporter.wallet)
  const { reference_key: reference, message_hash: hash } = await world()
    .db('payment_intents')
    .where({ id: intentId })
    .first()
  t.is(asked['trackingAccount'], reference, 'the payment is found by its reference key')
  t.is(hash, null)
})

test.serial('Ultra is asked for one signer, our fee and the creator as receiver, with our key', async (t) => {
  let seen: Exchange | undefined
  reword('/ultra/v1/order', (_, exchange) => {
    seen = exchange
    return {}
  })
  const { intentId } = await ask()
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

test.serial(
  'equal tips within a block are two transactions: the second is made by the other engine',
  async (t) => {
    const amount = nextAmount()
    const [first, second] = [await ask(amount), await ask(amount)]
    t.is(first.provider, 'aggregator-ultra')
    t.is(second.provider, 'aggregator-v6')
    const same = nextAmount()
    const at = await Promise.all(Array.from({ length: 4 }, () => ask(same)))
    t.deepEqual(
      at.map(({ code }) => code),
      [200, 200, 200, 200],
    )
    t.is(new Set(at.map(({ transaction }) => transaction)).size, 4)
    world().sandbox.aggregator.set({ v6: { mode: 'no-route' } })
    const { code, error } = await ask(same)
    t.is(`${code} ${error}`, away, 'there is a route, only not now')
    advance(1)
    t.is((await ask(same)).provider, 'aggregator-ultra')
  },
)
