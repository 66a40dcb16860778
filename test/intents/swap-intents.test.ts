import test from 'ava'
import { associatedAccount } from '../../scripts/sandbox/chain/faucet.js'
import type { CreatorSettings } from '../../src/creators/settings.js'
import { solMint, tokenByMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createIntent } from '../helpers/make/intents.js'
import { createSupporter, type Supporter } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, proxies: true })
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
