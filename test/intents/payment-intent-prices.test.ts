import test from 'ava'
import { solMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { moveClock } from '../helpers/clock.js'
import { registerCreator } from '../helpers/make/creators.js'
import { type IntentBody, issueIntent } from '../helpers/make/intents.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, taps: true })
const bonk = tokenBySymbol('BONK')?.mint ?? ''
const body = { creatorId: strangerWallet(), sourceWalletAddress: strangerWallet() }
/** Longer than the book leaves the feed alone, whatever it answered; shorter than a price lives. */
const nextReadingMs = 16_000
const refusals = { noPrice: '422 No price for this token', unavailable: '503 Price unavailable' }

async function asked(mint: string, change: Record<string, unknown>): Promise<string> {
  const answer = await world().request<IntentBody & { error?: string }>('POST', '/payments/intent', {
    body: { ...body, inputTokenMint: mint, ...change },
  })
  if (answer.status !== 200) return `${answer.status} ${answer.body.error}`
  return `${answer.body.quote.outAmount} for ${answer.body.quote.amountUsd}`
}

function setPrice(mint: string, usd: number | null): void {
  world().sandbox.prices.set(mint, usd)
  moveClock(nextReadingMs)
}

const alerts = async (kind: string): Promise<number> => {
  const { values } = await world().services.metrics.alerts.get()
  return values.find(({ labels }) => labels.kind === kind)?.value ?? 0
}

test.beforeEach(() => {
  world().sandbox.prices.reset()
  world().taps.outside.intervene = undefined
  // Older than a jump is held against.
  moveClock(301_000)
})

test.serial('an amount in USD becomes token units at the live price, rounded half up', async (t) => {
  // 15 USD at 150 USD: 0.1 SOL; net of the 2 % fee.
  t.is(await asked(solMint, { amountUsd: 15 }), '98000000 for 15')
  t.is(await asked(bonk, { amountUsd: 1 }), '4900000000 for 1')
  setPrice(solMint, 175)
  setPrice(bonk, 0.000023)
  // 10 / 175 = 0.0571428571...: 57142857 lamports, fee 1142857.
  t.is(await asked(solMint, { amountUsd: 10 }), '56000000 for 10')
  // 1 / 0.000023 = 43478.260869...: 4347826087 units, fee 86956521.
  t.is(await asked(bonk, { amountUsd: 1 }), '4260869566 for 1')
  t.is(await asked(solMint, { amount: 2 }), '1960000000 for 350')
})

test.serial(
  'the feed is asked once for all who ask within 15 seconds, and every fresh price is kept',
  async (t) => {
    const { outside } = world().taps
    let readings = 0
    outside.intervene = (path) => {
      if (path.startsWith('/price/')) readings += 1
      return undefined
    }
    await Promise.all(Array.from({ length: 20 }, () => asked(solMint, { amount: 1 })))
    t.is(readings, 1)
    setPrice(solMint, 160)
    await asked(solMint, { amount: 1 })
    t.is(readings, 2)
    t.is(Number((await world().db('prices').where({ mint: solMint }).first()).usd), 160)
  },
)

for (const [name, answer] of [
  ['is down', 'close'],
  ['answers 500', { status: 500, body: 'Traceback (most recent call last)' }],
  ['answers 429', { status: 429, body: '{}' }],
  ['answers HTML', { status: 200, body: '<html>' }],
  ['answers a list', { status: 200, body: '[{"usdPrice":150}]' }],
  ['answers something else than prices', { status: 200, body: '{"message":"try later"}' }],
] as const)
  test.serial(
    `a feed that ${name} makes the price unavailable, and its return needs no restart`,
    async (t) => {
      const { taps } = world()
      taps.outside.intervene = (path) => (path.startsWith('/price/') ? answer : undefined)
      t.is(await asked(solMint, { amount: 1 }), refusals.unavailable)
      t.is(await asked(solMint, { amountUsd: 1 }), refusals.unavailable)
      taps.outside.intervene = undefined
      moveClock(3001)
      t.is(await asked(solMint, { amount: 1 }), '980000000 for 150')
    },
  )

test.serial('a feed that never answers is waited for three seconds, by all who ask together', async (t) => {
  const { outside } = world().taps
  let readings = 0
  outside.intervene = (path) => {
    if (!path.startsWith('/price/')) return undefined
    readings += 1
    return 'hang'
  }
  const startedAt = performance.now()
  const answers = await Promise.all(Array.from({ length: 5 }, () => asked(solMint, { amount: 1 })))
  t.deepEqual([...new Set(answers)], [refusals.unavailable])
  const tookMs = performance.now() - startedAt
  t.true(tookMs >= 2900 && tookMs < 5000, `${tookMs} ms`)
  t.is(await asked(solMint, { amount: 1 }), refusals.unavailable)
  t.is(readings, 1, 'nobody queues up behind a dead feed')
  outside.intervene = undefined
  moveClock(3001)
  t.is(await asked(solMint, { amount: 1 }), '980000000 for 150')
})

test.serial('the feed is asked for at most fifty tokens at once', async (t) => {
  const { prices } = world().services
  const mints = Array.from({ length: 51 }, strangerWallet)
  t.is((await prices.read(mints.slice(1))).size, 0)
  await t.throwsAsync(prices.read(mints), { instanceOf: RangeError })
})

for (const malformed of ['{"usdPrice":"150"}', '{}', '150', '[]', '"150"'])
  test.serial(`a price that reads ${malformed} makes its own token unavailable and no other`, async (t) => {
    const { outside } = world().taps
    outside.intervene = (path) =>
      path.startsWith('/price/')
        ? { status: 200, body: `{"${solMint}":${malformed},"${bonk}":{"usdPrice":0.00002}}` }
        : undefined
    t.is(await asked(solMint, { amount: 1 }), refusals.unavailable)
    t.is(await asked(solMint, { amountUsd: 1 }), refusals.unavailable)
    t.is(await asked(bonk, { amount: 100_000 }), '9800000000 for 2')
    outside.intervene = undefined
    moveClock(nextReadingMs)
    t.is(await asked(solMint, { amount: 1 }), '980000000 for 150')
  })

test.serial('a price serves while it is younger than 60 seconds, and not longer', async (t) => {
  t.is(await asked(solMint, { amount: 1 }), '980000000 for 150')
  world().taps.outside.intervene = (path) => (path.startsWith('/price/') ? 'close' : undefined)
  moveClock(50_000)
  t.is(await asked(solMint, { amount: 1 }), '980000000 for 150')
  moveClock(10_001)
  t.is(await asked(solMint, { amount: 1 }), refusals.unavailable)
})

for (const usd of [0, 1e-15])
  test.serial(`a price of ${usd} is a broken feed, not a token without a price`, async (t) => {
    t.is(await asked(solMint, { amount: 1 }), '980000000 for 150')
    setPrice(solMint, usd)
    t.is(await asked(solMint, { amount: 1 }), refusals.unavailable)
    t.is(await asked(solMint, { amountUsd: 1 }), refusals.unavailable)
    t.is(await asked(bonk, { amount: 100_000 }), '9800000000 for 2', 'other tokens go on')
    setPrice(solMint, 151)
    t.is(await asked(solMint, { amount: 1 }), '980000000 for 151')
  })

for (const [from, to, held] of [
  [150, 180.1, true],
  [150, 180, false],
  [150, 119.9, true],
  [150, 120, false],
] as const)
  test.serial(`from ${from} to ${to} is ${held ? 'a jump' : 'no jump'}`, async (t) => {
    setPrice(solMint, from)
    const before = await alerts('price_jump')
    t.is(await asked(solMint, { amount: 1 }), `980000000 for ${from}`)
    setPrice(solMint, to)
    t.is(await asked(solMint, { amount: 1 }), held ? refusals.unavailable : `980000000 for ${to}`)
    t.is(await alerts('price_jump'), before + (held ? 1 : 0))
    // The second reading, more than 15 s later, agrees.
    setPrice(solMint, to)
    t.is(await asked(solMint, { amount: 1 }), `980000000 for ${to}`)
  })

test.serial('one wrong reading is held back, and the next right one is taken at once', async (t) => {
  t.is(await asked(solMint, { amount: 1 }), '980000000 for 150')
  setPrice(solMint, 15_000)
  t.is(await asked(solMint, { amountUsd: 10 }), refusals.unavailable)
  setPrice(solMint, 149)
  t.is(await asked(solMint, { amount: 1 }), '980000000 for 149')
})

test.serial('a reading that leaves the token out does not make the next jump pass', async (t) => {
  t.is(await asked(solMint, { amount: 1 }), '980000000 for 150')
  setPrice(solMint, null)
  t.is(await asked(solMint, { amountUsd: 1 }), refusals.noPrice)
  setPrice(solMint, 15_000)
  t.is(await asked(solMint, { amount: 1 }), refusals.unavailable)
})

test.serial('a token without a price has no limits and no value, and takes no USD amount', async (t) => {
  setPrice(bonk, null)
  t.is(await asked(bonk, { amount: 0.00001 }), '1 for 0')
  t.is(await asked(bonk, { amount: 1e14 }), '9800000000000000000 for 0')
  t.is(await asked(bonk, { amount: 2e14 }), '400 Invalid amount', 'no token amount is above 2^64 - 1')
  t.is(await asked(bonk, { amountUsd: 1 }), refusals.noPrice)
  const intent = await issueIntent(world().request, { ...body, inputTokenMint: bonk, amount: 1 })
  t.is(intent.quote.amountUsd, 0)
})

test.serial('the price is looked at after the creator and the limits, and before the route', async (t) => {
  const swapper = await registerCreator(world(), { yieldEnabled: true })
  world().taps.outside.intervene = (path) => (path.startsWith('/price/') ? 'close' : undefined)
  t.is(await asked(solMint, { creatorId: '@nobody', amount: 1 }), '404 Creator not found')
  t.is(await asked(solMint, { amountUsd: 10_001 }), '400 Invalid amount')
  t.is(await asked(solMint, { creatorId: swapper.wallet, amount: 1 }), refusals.unavailable)
})
