import test from 'ava'
import { type CreatorSettings, defaultSettings } from '../../src/creators/settings.js'
import { type Token, tokenBySymbol, tokens } from '../../src/kernel/tokens.js'
import { targetToken } from '../../src/payments/choose-route.js'

const token = (symbol: string): Token => tokenBySymbol(symbol) as Token
const everySymbol = tokens.map(({ symbol }) => symbol)
const flags = [false, true]
const accepting = [[], ['SOL'], ['USDC'], ['USDT', 'BONK'], ['bonk', 'sol'], everySymbol, ['DOGE'], ['']]

function settings(change: Partial<CreatorSettings>): CreatorSettings {
  return { ...defaultSettings, ...change }
}

const everySetting = flags.flatMap((yieldEnabled) =>
  flags.flatMap((autoConvertUsdc) =>
    accepting.map((acceptedTokens) => settings({ yieldEnabled, autoConvertUsdc, acceptedTokens })),
  ),
)

/** The decision, in its own words and order. */
function expectedSymbol({ yieldEnabled, autoConvertUsdc, acceptedTokens }: CreatorSettings, symbol: string) {
  if (yieldEnabled) return 'JitoSOL'
  if (autoConvertUsdc) return 'USDC'
  return acceptedTokens.map((one) => one.toUpperCase()).includes(symbol.toUpperCase()) ? symbol : 'USDC'
}

test('whatever the supporter gives, yield routing comes first, then conversion, then what is accepted', (t) => {
  for (const chosen of everySetting)
    for (const input of tokens) {
      const expected = token(expectedSymbol(chosen, input.symbol))
      t.is(targetToken(input, chosen), expected, `${input.symbol} ${JSON.stringify(chosen)}`)
      t.is(targetToken(input, { ...chosen, gaslessEnabled: true }), expected, 'gasless does not matter')
    }
})

test('the defaults take SOL, USDC, USDT and BONK as they come and turn the rest into USDC', (t) => {
  const table = { SOL: 'SOL', USDC: 'USDC', USDT: 'USDT', BONK: 'BONK', JitoSOL: 'USDC' }
  for (const [input, output] of Object.entries(table))
    t.is(targetToken(token(input), defaultSettings), token(output), input)
  t.deepEqual(Object.keys(table).toSorted(), everySymbol.toSorted(), 'every token stands in the table')
})
