import test from 'ava'
import { solMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { advanceMonotonicClock } from '../helpers/clock.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createIntent, type IntentBody } from '../helpers/make/intents.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, proxies: true })
const bonk = tokenBySymbol('BONK')?.mint ?? ''
const body = { creatorId: unusedWallet(), sourceWalletAddress: unusedWallet() }
/** Longer than every cache and pause of the feed, shorter than the life of a price. */
const nextReadingMs = 16_000
const refusals = { noPrice: '422 No price for this token', unavailable: '503 Price unavailable' }

async function requestIntent(mint: string, change: Record<string, unknown>): Promise<string> {
  const answer = await world().request<IntentBody & { error?: string }>('POST', '/payments/intent', {
    body: { ...body, inputTokenMint: mint, ...change },
  })
  if (answer.status !== 200) return `${answer.status} ${answer.body.error}`
  return `${answer.body.quote.outAmount} for ${answer.body.quote.amountUsd}`
}

function setPrice(mint: string, usd: number | null): void {
  world().sandbox.prices.set(mint, usd)
  advanceMonotonicClock(nextReadingMs)
}

test.beforeEach(() => {
  world().sandbox.prices.reset()
  world().proxies.outside.intervene = undefined
  // So old that a reading is not compared with it.
  advanceMonotonicClock(301_000)
})

test.serial('an amount in USD is converted to token units at the live price, rounded half up', async (t) => {
  // 15 USD at 150 USD: 0.1 SOL; net of the 2 % fee.
  t.is(await requestIntent(solMint, { amountUsd: 15 }), '98000000 for 15')
  t.is(await requestIntent(bonk, { amountUsd: 1 }), '4900000000 for 1')
  setPrice(solMint, 175)
  setPrice(bonk, 0.000023)
  // 10 / 175 = 0.0571428571...: 57142857 lamports, fee 1142857.
  t.is(await requestIntent(solMint, { amountUsd: 10 }), '56000000 for 10')
  // 1 / 0.000023 = 43478.260869...: 4347826087 units, fee 86956521.
  t.is(await requestIntent(bonk, { amountUsd: 1 }), '4260869566 for 1')
  t.is(await requestIntent(solMint, { amount: 2 }), '1960000000 for 350')
})

test.serial('the feed is read once for all requests within 15 seconds and stored', async (t) => {
  const { outside } = world().proxies
  let readings = 0
  outside.intervene = (path) => {
    if (path.startsWith('/price/')) readings += 1
    return undefined
  }
  await Promise.all(Array.from({ length: 20 }, () => requestIntent(solMint, { amount: 1 })))
  t.is(readings, 1)
  setPrice(solMint, 160)
  await requestIntent(solMint, { amount: 1 })
  t.is(readings, 2)
  t.is(Number((await world().db('prices').where({ mint: solMint }).first()).usd), 160)
})

for (const [name, answer] of [
  ['is down', 'close'],
  ['answers 500', { status: 500, body: 'Traceback (most recent call last)' }],
  ['answers 429', { status: 429, body: '{}' }],
  ['answers HTML', { status: 200, body: '<html>' }],
  ['answers a list', { status: 200, body: '[{"usdPrice":150}]' }],
  ['answers something else than prices', { status: 200, body: '{"message":"try later"}' }],
] as const)
  test.serial(`a feed that ${name} makes the price unavailable until it recovers`, async (t) => {
    const { proxies } = world()
    proxies.outside.intervene = (path) => (path.startsWith('/price/') ? answer : undefined)
    t.is(await requestIntent(solMint, { amount: 1 }), refusals.unavailable)
    t.is(await requestIntent(solMint, { amountUsd: 1 }), refusals.unavailable)
    proxies.outside.intervene = undefined
    advanceMonotonicClock(3001)
    t.is(await requestIntent(solMint, { amount: 1 }), '980000000 for 150')
  })

test.serial('concurrent requests wait three seconds together for a feed that does not answer', async (t) => {
  const { outside } = world().proxies
  let readings = 0
  outside.intervene = (path) => {
    if (!path.startsWith('/price/')) return undefined
    readings += 1
    return 'hang'
  }
  const startedAt = performance.now()
  const answers = await Promise.all(Array.from({ length: 5 }, () => requestIntent(solMint, { amount: 1 })))
  t.deepEqual([...new Set(answers)], [refusals.unavailable])
  const tookMs = performance.now() - startedAt
  t.true(tookMs >= 2900 && tookMs < 12_000, `${tookMs} ms`)
  t.is(await requestIntent(solMint, { amount: 1 }), refusals.unavailable)
  t.is(readings, 1, 'requests do not queue behind a failed feed')
  outside.intervene = undefined
  advanceMonotonicClock(3001)
  t.is(await requestIntent(solMint, { amount: 1 }), '980000000 for 150')
})

test.serial('one request to the feed has at most fifty tokens', async (t) => {
  const { prices } = world().services
  const mints = Array.from({ length: 51 }, unusedWallet)
  t.is((await prices.read(mints.slice(1))).size, 0)
  await t.throwsAsync(prices.read(mints), { instanceOf: RangeError })
})

for (const malformed of ['{"usdPrice":"150"}', '{}', '150', '[]', '"150"'])
  test.serial(`a price of ${malformed} makes only its own token unavailable`, async (t) => {
    const { outside } = world().proxies
    outside.intervene = (path) =>
      path.startsWith('/price/')
        ? { status: 200, body: `{"${solMint}":${malformed},"${bonk}":{"usdPrice":0.00002}}` }
        : undefined
    t.is(await requestIntent(solMint, { amount: 1 }), refusals.unavailable)
    t.is(await requestIntent(solMint, { amountUsd: 1 }), refusals.unavailable)
    t.is(await requestIntent(bonk, { amount: 100_000 }), '9800000000 for 2')
    outside.intervene = undefined
    advanceMonotonicClock(nextReadingMs)
    t.is(await requestIntent(solMint, { amount: 1 }), '980000000 for 150')
  })

test.serial('a price is used for 60 seconds', async (t) => {
  t.is(await requestIntent(solMint, { amount: 1 }), '980000000 for 150')
  world().proxies.outside.intervene = (path) => (path.startsWith('/price/') ? 'close' : undefined)
  advanceMonotonicClock(50_000)
  t.is(await requestIntent(solMint, { amount: 1 }), '980000000 for 150')
  advanceMonotonicClock(10_001)
  t.is(await requestIntent(solMint, { amount: 1 }), refusals.unavailable)
})

for (const usd of [0, 1e-15])
  test.serial(`a price of ${usd} makes the price unavailable, and is not a missing price`, async (t) => {
    t.is(await requestIntent(solMint, { amount: 1 }), '980000000 for 150')
    setPrice(solMint, usd)
    t.is(await requestIntent(solMint, { amount: 1 }), refusals.unavailable)
    t.is(await requestIntent(solMint, { amountUsd: 1 }), refusals.unavailable)
    t.is(
      await requestIntent(bonk, { amount: 100_000 }),
      '9800000000 for 2',
      'other tokens still have their price',
    )
    setPrice(solMint, 151)
    t.is(await requestIntent(solMint, { amount: 1 }), '980000000 for 151')
  })

test.serial('one wrong reading is not used, and the next right one is used immediately', async (t) => {
  t.is(await requestIntent(solMint, { amount: 1 }), '980000000 for 150')
  setPrice(solMint, 15_000)
  t.is(await requestIntent(solMint, { amountUsd: 10 }), refusals.unavailable)
  setPrice(solMint, 149)
  t.is(await requestIntent(solMint, { amount: 1 }), '980000000 for 149')
})

test.serial('a token without a price has no limits and no value, and refuses a USD amount', async (t) => {
  setPrice(bonk, null)
  t.is(await requestIntent(bonk, { amount: 0.00001 }), '1 for 0')
  t.is(await requestIntent(bonk, { amount: 1e14 }), '9800000000000000000 for 0')
  t.is(await requestIntent(bonk, { amount: 2e14 }), '400 Invalid amount', 'no token amount is above 2^64 - 1')
  t.is(await requestIntent(bonk, { amountUsd: 1 }), refusals.noPrice)
  const intent = await createIntent(world().request, { ...body, inputTokenMint: bonk, amount: 1 })
  t.is(intent.quote.amountUsd, 0)
})

test.serial('the price is checked after the creator and the limits, and before the route', async (t) => {
  const swapper = await registerCreator(world(), { yieldEnabled: true })
  world().proxies.outside.intervene = (path) => (path.startsWith('/price/') ? 'close' : undefined)
  t.is(await requestIntent(solMint, { creatorId: '@nobody', amount: 1 }), '404 Creator not found')
  t.is(await requestIntent(solMint, { amountUsd: 10_001 }), '400 Invalid amount')
  t.is(await requestIntent(solMint, { creatorId: swapper.wallet, amount: 1 }), refusals.unavailable)
})
