import test from 'ava'
import { type CreatorSettings, defaultSettings } from '../../src/creators/settings.js'
import { selectRoute, swapRefusal } from '../../src/intents/select-route.js'
import type { ErrorCode } from '../../src/kernel/errors.js'
import type { ProviderErrorKind } from '../../src/kernel/provider-error.js'
import { type Token, tokenBySymbol, tokens } from '../../src/kernel/tokens.js'

const token = (symbol: string): Token => tokenBySymbol(symbol) as Token
const stake = token('JitoSOL')
const everySymbol = tokens.map(({ symbol }) => symbol)
const flags = [false, true]
const accepting = [[], ['SOL'], ['USDC'], ['USDT', 'BONK'], ['bonk', 'sol'], everySymbol, ['DOGE'], ['']]

function settings(change: Partial<CreatorSettings>): CreatorSettings {
  return { ...defaultSettings, ...change }
}

const everySetting = flags.flatMap((yieldEnabled) =>
  flags.flatMap((autoConvertUsdc) =>
    flags.flatMap((gaslessEnabled) =>
      accepting.map((acceptedTokens) =>
        settings({ yieldEnabled, autoConvertUsdc, gaslessEnabled, acceptedTokens }),
      ),
    ),
  ),
)

/** The rules of docs/decisions/0013, in their order. */
function expectedSymbol({ yieldEnabled, autoConvertUsdc, acceptedTokens }: CreatorSettings, symbol: string) {
  if (yieldEnabled) return 'JitoSOL'
  if (autoConvertUsdc) return 'USDC'
  return acceptedTokens.map((one) => one.toUpperCase()).includes(symbol.toUpperCase()) ? symbol : 'USDC'
}

test('for every input token, yield routing comes first, then conversion, then accepted tokens', (t) => {
  for (const chosen of everySetting)
    for (const input of tokens) {
      const output = token(expectedSymbol(chosen, input.symbol))
      t.deepEqual(
        selectRoute(input, chosen, stake),
        {
          output,
          kind: output === input ? 'direct' : 'swap',
          executionMode: chosen.gaslessEnabled ? 'async' : 'sync',
        },
        `${input.symbol} ${JSON.stringify(chosen)}`,
      )
    }
})

test('the defaults accept SOL, USDC, USDT and BONK and swap other tokens into USDC', (t) => {
  const table = { SOL: 'SOL', USDC: 'USDC', USDT: 'USDT', BONK: 'BONK', JitoSOL: 'USDC' }
  for (const [input, output] of Object.entries(table))
    t.is(selectRoute(token(input), defaultSettings, stake).output, token(output), input)
  t.deepEqual(Object.keys(table).toSorted(), everySymbol.toSorted(), 'every token stands in the table')
})

test('yield routing pays the configured token', (t) => {
  const chosen = settings({ yieldEnabled: true })
  t.is(selectRoute(token('SOL'), chosen, token('BONK')).output, token('BONK'))
  t.is(selectRoute(token('BONK'), chosen, token('BONK')).kind, 'direct')
})

const refusals: [engines: ProviderErrorKind[], code: ErrorCode][] = [
  [[], 'swap_engines_unavailable'],
  [['rejected'], 'no_route'],
  [['unavailable'], 'swap_engines_unavailable'],
  [['ambiguous'], 'swap_engines_unavailable'],
  [['rejected', 'rejected'], 'no_route'],
  [['rejected', 'unavailable'], 'swap_engines_unavailable'],
  [['unavailable', 'rejected'], 'swap_engines_unavailable'],
  [['ambiguous', 'rejected'], 'swap_engines_unavailable'],
  [['unavailable', 'ambiguous'], 'swap_engines_unavailable'],
]
for (const [engines, code] of refusals)
  test(`engines that are ${engines.join(' and ') || 'not configured'} cause ${code}`, (t) => {
    t.is(swapRefusal(engines), code)
  })
