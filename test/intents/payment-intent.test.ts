import test from 'ava'
import { associatedAccount } from '../../scripts/sandbox/chain/faucet.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { type ErrorCode, errors } from '../../src/kernel/errors.js'
import { solMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { advanceMonotonicClock } from '../helpers/clock.js'
import { badBodies } from '../helpers/http/hostile-input.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { createIntent, type IntentBody } from '../helpers/make/intents.js'
import { assignDomain, freshDomain } from '../helpers/make/sol-domains.js'
import { createSupporter, unusedWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, proxies: true })
const usdc = tokenBySymbol('USDC')?.mint ?? ''
const unknownUser = '00000000-0000-4000-8000-000000000000'
const source = encodeBase58(Buffer.alloc(32, 200))
const good = { creatorId: unusedWallet(), amount: 5, inputTokenMint: usdc, sourceWalletAddress: source }

async function refusal(body: unknown): Promise<string> {
  const answer = await world().request('POST', '/payments/intent', { body })
  return answer.status === 200 ? 'ok' : `${answer.status} ${answer.body.code} ${answer.body.error}`
}

function exactly(code: ErrorCode): string {
  const [status, text] = errors[code]
  return `${status} ${code} ${text}`
}

/** The JSON text of a valid body with one field as raw JSON. */
function written(field: string, json: string): string {
  return JSON.stringify({ ...good, [field]: '@' }).replace('"@"', json)
}

const fields = exactly('intent_fields_required')
const mint = exactly('invalid_input_token_mint')
const wallet = exactly('invalid_source_wallet')
const amount = exactly('invalid_amount')
const unknown = exactly('creator_not_found')

for (const [name, options] of Object.entries(badBodies))
  test(`a body that is ${name} is refused as missing fields`, async (t) => {
    const answer = await world().request('POST', '/payments/intent', options)
    t.is(answer.status, 400)
    t.is(answer.body.error, errors.intent_fields_required[1])
  })

const hostile = {
  'one character too long': `${source}1`,
  'a leading blank': ` ${source}`,
  'a trailing line break': `${source}\n`,
  'a zero, which base58 lacks': `0${source.slice(1)}`,
  'a full-width letter': `Ａ${source.slice(1)}`,
  'a NUL': `${source.slice(1)}\0`,
  '31 bytes': '1'.repeat(31),
  '33 bytes': '1'.repeat(33),
  'a long text': '1'.repeat(60_000),
  'a signature': `${source}${source}`,
  SQL: `'; drop table tips; --`,
}

const refused: [name: string, change: Record<string, unknown>, expected: string][] = [
  ...['creatorId', 'inputTokenMint', 'sourceWalletAddress', 'amount'].flatMap(
    (field): [string, Record<string, unknown>, string][] => [
      [`${field} absent`, { [field]: undefined }, fields],
      [`${field} null`, { [field]: null }, fields],
    ],
  ),
  ...['creatorId', 'inputTokenMint', 'sourceWalletAddress', 'tokenSymbol'].map(
    (field): [string, Record<string, unknown>, string] => [
      `${field} with a lone surrogate`,
      { [field]: `\ud800${source.slice(1)}` },
      fields,
    ],
  ),
  ...['creatorId', 'inputTokenMint', 'sourceWalletAddress'].map(
    (field): [string, Record<string, unknown>, string] => [`${field} empty`, { [field]: '' }, fields],
  ),
  ...[5, true, {}, ['x']].flatMap((value): [string, Record<string, unknown>, string][] => [
    [`creatorId ${JSON.stringify(value)}`, { creatorId: value }, fields],
    [`inputTokenMint ${JSON.stringify(value)}`, { inputTokenMint: value }, mint],
    [`sourceWalletAddress ${JSON.stringify(value)}`, { sourceWalletAddress: value }, wallet],
  ]),
  ...Object.entries(hostile).flatMap(([name, text]): [string, Record<string, unknown>, string][] => [
    [`sourceWalletAddress with ${name}`, { sourceWalletAddress: text }, wallet],
    [`inputTokenMint with ${name}`, { inputTokenMint: text }, mint],
    [`creatorId with ${name}`, { creatorId: text }, unknown],
  ]),
  ['an unknown mint', { inputTokenMint: unusedWallet() }, mint],
  ['a symbol for a mint', { inputTokenMint: 'USDC' }, mint],
  ['an unknown user', { creatorId: unknownUser }, unknown],
  ['an unknown auth_ id', { creatorId: `auth_${unknownUser}` }, unknown],
  ['an unlinked handle', { creatorId: '@nobody' }, unknown],
  ...[0, -1, '5', '', true, {}, [], [5]].flatMap((value): [string, Record<string, unknown>, string][] => [
    [`amount ${JSON.stringify(value)}`, { amount: value }, amount],
    [`amountUsd ${JSON.stringify(value)}`, { amountUsd: value }, amount],
  ]),
  ['an amount below half a base unit', { amount: 4.9e-7 }, amount],
  ['an amount worth less than a cent', { amount: 0.009999 }, amount],
  ['an amount worth more than 10,000 dollars', { amount: 10_000.000001 }, amount],
  ['less than a cent', { amountUsd: 0.009999 }, amount],
  ['more than 10,000 dollars', { amountUsd: 10_000.000001 }, amount],
  ['the smallest double', { amountUsd: 5e-324 }, amount],
]

for (const [name, change, expected] of refused)
  test(`${name}: ${expected.slice(0, 40)}`, async (t) => {
    t.is(await refusal({ ...good, ...change }), expected)
  })

test('numbers beyond a double are refused', async (t) => {
  for (const json of ['1e400', '-1e400', '9007199254740993', '1e308', '18446744073709551616'])
    for (const field of ['amount', 'amountUsd'])
      t.is(await refusal(written(field, json)), amount, `${field} ${json}`)
})

test('the limits are inclusive', async (t) => {
  t.is(await refusal({ ...good, amount: 0.01 }), 'ok')
  t.is(await refusal({ ...good, amount: 10_000 }), 'ok')
  t.is(await refusal({ ...good, amountUsd: 0.01 }), 'ok')
  t.is(await refusal({ ...good, amountUsd: 10_000 }), 'ok')
})

test('amount is ignored when amountUsd is given, and unknown fields are always ignored', async (t) => {
  for (const value of [-1, 'x', null, {}, 0])
    t.is(await refusal({ ...good, amount: value, amountUsd: 5, more: { a: 1 } }), 'ok')
  t.is(await refusal({ ...good, amountUsd: null }), 'ok')
  t.is(await refusal({ ...good, tokenSymbol: 5 }), 'ok')
})

test("the creator's limits narrow the service's limits", async (t) => {
  const { user } = await registerCreator(world(), { minTipUsd: 2, maxTipUsd: 50 })
  const requestUsd = (usd: number) => refusal({ ...good, creatorId: user.id, amount: usd })
  t.deepEqual(await Promise.all([1.99, 2, 50, 50.01].map(requestUsd)), [amount, 'ok', 'ok', amount])
})

test('a creator is found by every kind of id in the API', async (t) => {
  const { user, wallet: own } = await registerCreator(world())
  const ids = [user.id, user.id.toUpperCase(), `auth_${user.id}`, `auth_${user.id.toUpperCase()}`, own]
  for (const creatorId of ids) {
    const { intentId } = await createIntent(world().request, { ...good, creatorId })
    const stored = await world().db('payment_intents').where({ id: intentId }).first()
    t.is(stored.payout_wallet, own, creatorId)
  }
})

test('a wallet without an account is payable, and no account is created for it', async (t) => {
  const { intentId } = await createIntent(world().request, good)
  const stored = await world().db('payment_intents').where({ id: intentId }).first()
  t.is(stored.payout_wallet, good.creatorId)
  const party = await world().db('parties').where({ id: stored.recipient_party }).first()
  t.like(party, { wallet: good.creatorId, user_id: null })
})

test('of several wrong fields, the first in the order of the API decides the error', async (t) => {
  const swapper: TestCreator = await registerCreator(world(), { acceptedTokens: ['SOL'] })
  const steps: [Record<string, unknown>, string][] = [
    [{ sourceWalletAddress: undefined }, fields],
    [{ inputTokenMint: 'x', sourceWalletAddress: 'x' }, mint],
    [{ inputTokenMint: usdc, sourceWalletAddress: 'x' }, wallet],
    [{ sourceWalletAddress: source }, amount],
    [{ amount: undefined, amountUsd: 20_000, creatorId: unknownUser }, unknown],
    [{ creatorId: swapper.user.id }, amount],
  ]
  let body: Record<string, unknown> = { ...good, amount: -1, creatorId: unknownUser, inputTokenMint: 'x' }
  for (const [change, expected] of steps) {
    body = { ...body, ...change }
    t.is(await refusal(body), expected, JSON.stringify(body))
  }
})

test('no swap engine is called when the input token is the one the creator receives', async (t) => {
  const converting = await registerCreator(world(), { autoConvertUsdc: true })
  t.is(await refusal({ ...good, creatorId: converting.user.id }), 'ok')
  t.deepEqual(world().sandbox.aggregator.calls.all(), {})
})

test("an intent names the creator's wallet and what is paid and received, as POST /sdk/tip does", async (t) => {
  const creator = await registerCreator(world())
  const body = { ...good, creatorId: creator.user.id, amount: 5 }
  t.like(await createIntent(world().request, body), {
    recipient: creator.wallet,
    input: { symbol: 'USDC', mint: usdc, decimals: 6, amount: '5000000' },
    output: { symbol: 'USDC', mint: usdc, decimals: 6, amount: '4900000' },
  })
  t.is(await refusal({ ...good, message: 5 }), fields)
  t.is(await refusal({ ...good, message: null }), 'ok')
})

test.serial('money to nowhere: programs, mints, token accounts and sysvars are no creators', async (t) => {
  const { chain, calls } = world().sandbox
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const nowhere = {
    "USDC's mint": usdc,
    "BONK's mint": tokenBySymbol('BONK')?.mint ?? '',
    'the token program': 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    'the system program': '11111111111111111111111111111111',
    'the clock': 'SysvarC1ock11111111111111111111111111111111',
    'a token account': associatedAccount(supporter.wallet, usdc).toBase58(),
    'the incinerator': '1nc1nerator11111111111111111111111111111111',
  }
  for (const [what, creatorId] of Object.entries(nowhere))
    t.is(await refusal({ ...good, creatorId }), unknown, what)
  const domain = freshDomain()
  await assignDomain(world().sandbox, domain, usdc)
  t.is(await refusal({ ...good, creatorId: domain }), unknown, 'a domain that pays a mint')

  t.is(await refusal({ ...good, creatorId: supporter.wallet }), 'ok', 'a funded wallet is a person')
  t.falsy(chain.svm.account(good.creatorId))
  t.is(await refusal(good), 'ok', 'and so is an account that does not exist')
  const once = unusedWallet()
  const before = calls.all()['getMultipleAccounts'] ?? 0
  t.is(await refusal({ ...good, creatorId: once }), 'ok')
  t.is(await refusal({ ...good, creatorId: once }), 'ok')
  t.is((calls.all()['getMultipleAccounts'] ?? 0) - before, 3, 'one for each transfer, and one check')
})

test.serial('an intent waits for no Redis', async (t) => {
  const { request, proxies } = world()
  await createIntent(request, good)
  proxies.redis.hold(true)
  t.teardown(() => proxies.redis.hold(false))
  t.regex((await createIntent(request, good)).intentId, /^pi_/)
})

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
