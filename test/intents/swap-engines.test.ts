import test, { type ExecutionContext } from 'ava'
import { associatedAccount, mintTokens } from '../../scripts/sandbox/chain/faucet.js'
import type { CreatorSettings } from '../../src/creators/settings.js'
import { solMint, tokenByMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { changeSwitch } from '../../src/platform/database/switches/switches.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createIntent, type IntentBody } from '../helpers/make/intents.js'
import { createSupporter, type Supporter, unusedWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, proxies: true })
const usdc = tokenBySymbol('USDC')?.mint ?? ''
const bonk = tokenBySymbol('BONK')?.mint ?? ''
const noRoute = '422 No route for this token'
const unavailable = '503 Swap engines unavailable'

type Faults = Parameters<ReturnType<typeof world>['sandbox']['aggregator']['set']>[0]
type Mode = NonNullable<Faults['ultra']>['mode']

/** A creator who receives USDC, with or without a token account, and a supporter with SOL and BONK. */
async function parties({ account = false } = {}) {
  const creator = await registerCreator(world(), { autoConvertUsdc: true })
  if (account) mintTokens(world().sandbox.chain, creator.wallet, usdc, 1n)
  return { creator, supporter: createSupporter(world().sandbox, ['BONK']) }
}

async function requestTip(creatorId: string, source: string, mint = solMint): Promise<string> {
  const body = { creatorId, amountUsd: 10, inputTokenMint: mint, sourceWalletAddress: source }
  const answer = await world().request<IntentBody & { error: string }>('POST', '/payments/intent', { body })
  return answer.status === 200 ? answer.body.provider : `${answer.status} ${answer.body.error}`
}

const alerts = () => countAlerts(world(), 'swap_refused')

const storedIntents = async (creatorWallet: string): Promise<number> =>
  (await world().db('payment_intents').where({ payout_wallet: creatorWallet })).length

test.afterEach.always(() => {
  world().sandbox.aggregator.reset()
  world().proxies.outside.intervene = undefined
})

test.serial('while swaps are switched off, a tip that needs one is refused, others are not', async (t) => {
  const { db, services } = world()
  const { creator, supporter } = await parties({ account: true })
  const change = { by: 'ngozi', reason: 'both engines quote nonsense' }
  await db.transaction((trx) => changeSwitch(trx, 'swaps', 'stopped', change))
  await services.switches.read()
  t.is(await requestTip(creator.user.id, supporter.wallet, bonk), '503 Service unavailable')
  t.is(await requestTip(creator.user.id, supporter.wallet, usdc), 'direct-transfer')
  await db.transaction((trx) => changeSwitch(trx, 'swaps', 'running', change))
  await services.switches.read()
  t.is(await requestTip(creator.user.id, supporter.wallet, bonk), 'aggregator-ultra')
})

const ultraModes: Mode[] = [
  'down',
  'rate-limited',
  'garbage',
  'no-route',
  'second-signer',
  'no-fee',
  'oversized',
  'error-code',
  'pays-less',
  'pays-another',
  'batches',
  'unknown-program',
]
for (const mode of ultraModes)
  test.serial(`when Ultra is ${mode}, the other engine builds the swap, and Ultra the next`, async (t) => {
    const { aggregator } = world().sandbox
    for (const [account, mint] of [
      [false, solMint],
      [true, bonk],
    ] as const) {
      const { creator, supporter } = await parties({ account })
      aggregator.set({ ultra: { mode } })
      t.is(await requestTip(creator.user.id, supporter.wallet, mint), 'aggregator-v6', `account ${account}`)
      aggregator.reset()
      t.is(await requestTip(creator.user.id, supporter.wallet, mint), 'aggregator-ultra')
    }
  })

/** The result when v6 has this fault and Ultra has no route, and when Ultra is down. */
const v6Modes: [mode: Exclude<Mode, 'error-code'>, withoutRoute: string, withoutUltra: string][] = [
  ['ok', 'aggregator-v6', 'aggregator-v6'],
  ['down', unavailable, unavailable],
  ['rate-limited', unavailable, unavailable],
  ['garbage', unavailable, unavailable],
  ['no-route', noRoute, unavailable],
  ['second-signer', noRoute, unavailable],
  ['no-fee', noRoute, unavailable],
  ['oversized', 'aggregator-v6', 'aggregator-v6'],
  ['pays-less', unavailable, unavailable],
  ['pays-another', unavailable, unavailable],
  ['batches', unavailable, unavailable],
  ['unknown-program', unavailable, unavailable],
]
for (const [mode, withoutRoute, withoutUltra] of v6Modes)
  test.serial(`when v6 is ${mode}, the answer is ${withoutRoute}, or ${withoutUltra}`, async (t) => {
    const { aggregator } = world().sandbox
    for (const account of [false, true]) {
      const { creator, supporter } = await parties({ account })
      const tip = () => requestTip(creator.user.id, supporter.wallet)
      aggregator.set({ ultra: { mode: 'no-route' }, v6: { mode } })
      t.is(await tip(), withoutRoute, `account ${account}`)
      aggregator.set({ ultra: { mode: 'down' } })
      t.is(await tip(), withoutUltra, `account ${account}`)
      const issued = [withoutRoute, withoutUltra].filter((text) => text.startsWith('aggregator')).length
      t.is(await storedIntents(creator.wallet), issued, 'a refusal leaves nothing behind')
      aggregator.set({ v6: { mode: 'ok' } })
      t.is(await tip(), 'aggregator-v6', 'no restart is needed')
    }
  })

for (const mode of ['pays-less', 'pays-another', 'batches', 'unknown-program'] as const)
  test.serial(`every transaction of an engine that ${mode} raises an alert`, async (t) => {
    const { creator, supporter } = await parties()
    world().sandbox.aggregator.set({ ultra: { mode }, v6: { mode } })
    const before = await alerts()
    t.is(await requestTip(creator.user.id, supporter.wallet), unavailable)
    t.is(await alerts(), before + 2)
  })

test.serial('the content of a swap is checked also for a supporter who cannot pay yet', async (t) => {
  const { creator } = await parties()
  const poor = unusedWallet()
  t.is(
    await requestTip(creator.user.id, poor),
    'aggregator-v6',
    'Ultra builds no transaction for this wallet',
  )
  for (const mode of ['pays-another', 'batches', 'unknown-program', 'second-signer'] as const) {
    world().sandbox.aggregator.set({ v6: { mode } })
    t.is(await requestTip(creator.user.id, poor), mode === 'second-signer' ? noRoute : unavailable, mode)
  }
})

/** Both engines take this long. */
const slowMs = 60_000
test.serial('after three seconds of a slow engine, the other one builds the swap', async (t) => {
  const { creator, supporter } = await parties()
  const { aggregator } = world().sandbox
  aggregator.set({ ultra: { mode: 'ok', delayMs: slowMs, times: 1 } })
  await within(t, 2_900, 20_000, async () => {
    t.is(await requestTip(creator.user.id, supporter.wallet), 'aggregator-v6')
  })
})

test.serial('with both engines slow a tip is refused after six seconds', async (t) => {
  const { creator, supporter } = await parties()
  const slow = { mode: 'ok', delayMs: slowMs, times: 1 } as const
  world().sandbox.aggregator.set({ ultra: slow, v6: slow })
  await within(t, 5_800, 20_000, async () => {
    t.is(await requestTip(creator.user.id, supporter.wallet), unavailable)
  })
  t.is(await requestTip(creator.user.id, supporter.wallet), 'aggregator-ultra')
})

async function within(t: ExecutionContext, least: number, most: number, work: () => Promise<void>) {
  const startedAt = performance.now()
  await work()
  const tookMs = performance.now() - startedAt
  t.true(tookMs >= least && tookMs < most, `${tookMs} ms`)
}

const answers: [name: string, answer: 'close' | { status: number; body: string }, expected: string][] = [
  ['hang up', 'close', unavailable],
  ['answer 500', { status: 500, body: '{"error":"Internal error"}' }, unavailable],
  ['answer 401', { status: 401, body: '{"message":"Invalid API key"}' }, unavailable],
  ['answer 403', { status: 403, body: '{}' }, unavailable],
  ['answer an empty object', { status: 200, body: '{}' }, unavailable],
  ['answer null', { status: 200, body: 'null' }, unavailable],
  ['answer a list', { status: 200, body: '[]' }, unavailable],
  ['answer nothing', { status: 200, body: '' }, unavailable],
  ['know no such token', { status: 404, body: '{"error":"not found"}' }, noRoute],
]
for (const [name, answer, expected] of answers)
  test.serial(`engines that ${name} cause ${expected}, and their recovery needs no restart`, async (t) => {
    const { creator, supporter } = await parties()
    const { outside } = world().proxies
    outside.intervene = (path) => (/^\/(ultra|swap)\//.test(path) ? answer : undefined)
    t.is(await requestTip(creator.user.id, supporter.wallet), expected)
    outside.intervene = undefined
    t.is(await requestTip(creator.user.id, supporter.wallet), 'aggregator-ultra')
  })

test.serial('without a simulation by the chain no swap is answered, with its own error', async (t) => {
  const { creator, supporter } = await parties()
  const { outside } = world().proxies
  for (const reply of [
    { error: { code: -32005, message: 'Node is behind' } },
    { result: null },
    { result: 5 },
  ]) {
    outside.alterReply = (method, _, answer) =>
      method === 'simulateTransaction' ? { id: answer.id, ...reply } : answer
    t.is(await requestTip(creator.user.id, supporter.wallet), '503 Service unavailable')
  }
  outside.alterReply = undefined
  t.is(await requestTip(creator.user.id, supporter.wallet), 'aggregator-ultra')
})

const mintOf = (symbol: string): string => tokenBySymbol(symbol)?.mint ?? ''
const flags = [false, true]
/** Display units, about fifteen dollars each. */
const given = { SOL: 0.1, USDC: 15, BONK: 750_000 } as const
type Given = keyof typeof given
const engines = ['aggregator-ultra', 'aggregator-v6'] as const

/** The balance of a wallet in base units of a token. Wrapped SOL does not count as SOL. */
function holds(wallet: string, mint: string): bigint {
  const { svm } = world().sandbox.chain
  if (mint === solMint) return svm.account(wallet)?.lamports ?? 0n
  return svm.account(associatedAccount(wallet, mint).toBase58())?.data.readBigUInt64LE(64) ?? 0n
}

function expectedOutput(settings: Partial<CreatorSettings>, symbol: Given): string {
  if (settings.yieldEnabled) return 'JitoSOL'
  if (settings.autoConvertUsdc) return 'USDC'
  return settings.acceptedTokens?.includes(symbol) ? symbol : 'USDC'
}

/** The platform's balance of a token, in the wallet where the engine sends the fee. */
function platformHolds(provider: string, mint: string): bigint {
  const { env } = world()
  const owner = env[provider === 'aggregator-ultra' ? 'AGGREGATOR_REFERRAL_ACCOUNT' : 'TREASURY_WALLET'] ?? ''
  const { svm } = world().sandbox.chain
  if (provider === 'direct-transfer') return holds(owner, mint)
  return svm.account(associatedAccount(owner, mint).toBase58())?.data.readBigUInt64LE(64) ?? 0n
}

test.afterEach.always(() => world().sandbox.aggregator.reset())

const everySetting: Partial<CreatorSettings>[] = flags.flatMap((yieldEnabled) =>
  flags.flatMap((autoConvertUsdc) =>
    flags.flatMap((gaslessEnabled) =>
      [['SOL', 'USDC', 'USDT', 'BONK'], ['USDT']].map((acceptedTokens) => ({
        yieldEnabled,
        autoConvertUsdc,
        gaslessEnabled,
        acceptedTokens,
      })),
    ),
  ),
)

/** Creates an intent, signs and lands its transaction, and compares the balances with the answer. */
async function tip(
  supporter: Supporter,
  settings: Partial<CreatorSettings>,
  symbol: Given,
  engine: (typeof engines)[number],
): Promise<string[]> {
  const { request } = world()
  const creator = await registerCreator(world(), settings)
  const input = mintOf(symbol)
  const output = mintOf(expectedOutput(settings, symbol))
  const provider = input === output ? 'direct-transfer' : engine
  const intent = await createIntent(request, {
    creatorId: creator.user.id,
    amount: given[symbol],
    inputTokenMint: input,
    sourceWalletAddress: supporter.wallet,
  })
  const before = {
    creator: holds(creator.wallet, output),
    supporter: holds(supporter.wallet, input),
    platform: [input, output].map((mint) => platformHolds(provider, mint)),
  }
  supporter.pay(intent.transaction)
  const received = holds(creator.wallet, output) - before.creator
  const paid = before.supporter - holds(supporter.wallet, input)
  const [feeIn = 0n, feeOut = 0n] = [input, output].map(
    (mint, index) => platformHolds(provider, mint) - (before.platform[index] ?? 0n),
  )
  const units = BigInt(Math.round(given[symbol] * 10 ** (tokenByMint(input)?.decimals ?? 0)))
  const faults: string[] = []
  const expect = (what: string, holdsTrue: boolean): void => {
    if (!holdsTrue) faults.push(`${symbol} ${engine} ${JSON.stringify(settings)}: ${what}`)
  }
  expect(`provider ${intent.provider}`, intent.provider === provider)
  expect(`received ${received} of ${intent.quote.outAmount}`, received >= BigInt(intent.quote.outAmount))
  expect(`received nothing`, received > 0n)
  // A supporter who gives SOL also pays the signature, the priority fee and the rent of the creator's account.
  const costs = symbol === 'SOL' ? 2_039_280n + 20_000n : 0n
  expect(`paid ${paid} of ${units}`, paid >= units && paid <= units + costs)
  const fee = input === output ? feeIn : feeIn + feeOut
  const whole = feeOut > 0n && input !== output ? (received + feeOut) * 2n : units * 2n
  // Ultra keeps a fifth of the two percent.
  const least = provider === 'aggregator-ultra' ? (whole * 79n) / 10_000n : (whole * 99n) / 10_000n
  expect(`fee ${fee} of ${whole / 100n}`, fee >= least && fee <= whole / 100n + 1n)
  expect(
    `mode ${intent.executionMode}`,
    intent.executionMode === (settings.gaslessEnabled ? 'async' : 'sync'),
  )
  const { yieldEnabled, gaslessEnabled, autoConvertUsdc } = settings
  const shown = JSON.stringify(intent.settings)
  expect(`settings ${shown}`, shown === JSON.stringify({ yieldEnabled, gaslessEnabled, autoConvertUsdc }))
  const impact = intent.quote.priceImpactPct
  expect(`impact ${impact}`, provider === 'direct-transfer' ? impact === 0 : impact > 0 && impact < 0.01)
  expect('worth 15 dollars', intent.quote.amountUsd === 15)
  return faults
}

for (const engine of engines)
  for (const symbol of Object.keys(given) as Given[])
    test.serial(`${symbol} reaches creators with every settings through ${engine}`, async (t) => {
      const { sandbox } = world()
      if (engine === 'aggregator-v6') sandbox.aggregator.set({ ultra: { mode: 'down' } })
      for (const settings of everySetting) {
        const supporter = createSupporter(sandbox, ['USDC', 'BONK'])
        t.deepEqual(await tip(supporter, settings, symbol, engine), [])
      }
    })
