import test from 'ava'
import { type Sandbox, startSandbox } from '../../scripts/sandbox/server.js'
import { tokens } from '../../src/kernel/tokens.js'
import { postJson } from './chain-client.js'

let sandbox: Sandbox
test.before(async () => {
  sandbox = await startSandbox({ port: 0, slotMs: 0 })
})
test.after.always(() => sandbox.close())

const mintOf = (symbol: string) => tokens.find((token) => token.symbol === symbol)?.mint ?? ''
const unknownMint = 'Unknown1111111111111111111111111111111111111'

async function prices(...mints: string[]): Promise<Record<string, { usdPrice: number; decimals: number }>> {
  const response = await fetch(`${sandbox.url}/price/v3?ids=${mints.join(',')}`)
  return (await response.json()) as Record<string, { usdPrice: number; decimals: number }>
}

test.serial('every known token has an initial price, in the provider’s format', async (t) => {
  const answer = await prices(...tokens.map((token) => token.mint))
  const bySymbol = tokens.map((token) => [token.symbol, answer[token.mint]?.usdPrice])
  t.deepEqual(Object.fromEntries(bySymbol), { SOL: 150, USDC: 1, USDT: 1, BONK: 0.00002, JitoSOL: 180 })
  t.deepEqual(Object.keys(answer[mintOf('SOL')] ?? {}).sort(), [
    'blockId',
    'createdAt',
    'decimals',
    'liquidity',
    'priceChange24h',
    'usdPrice',
  ])
  t.is(answer[mintOf('BONK')]?.decimals, 5)
})

test.serial('a token without a price is absent from the answer', async (t) => {
  t.deepEqual(Object.keys(await prices(mintOf('SOL'), unknownMint)), [mintOf('SOL')])
})

test.serial('prices can be set, set to zero, removed and reset', async (t) => {
  const control = `${sandbox.url}/dev/prices`
  await postJson(control, { [mintOf('SOL')]: 163.5, [mintOf('BONK')]: 0, [mintOf('USDT')]: null })
  const changed = await prices(mintOf('SOL'), mintOf('BONK'), mintOf('USDT'))
  t.is(changed[mintOf('SOL')]?.usdPrice, 163.5)
  t.is(changed[mintOf('BONK')]?.usdPrice, 0)
  t.false(mintOf('USDT') in changed)
  await postJson(`${sandbox.url}/dev/reset`, { what: ['prices'] })
  t.is((await prices(mintOf('SOL')))[mintOf('SOL')]?.usdPrice, 150)
})

test.serial('invalid requests are refused', async (t) => {
  t.is((await fetch(`${sandbox.url}/price/v3`)).status, 400)
  const tooMany = new Array(51).fill(unknownMint).join(',')
  t.is((await fetch(`${sandbox.url}/price/v3?ids=${tooMany}`)).status, 400)
  t.is((await postJson(`${sandbox.url}/dev/prices`, { [mintOf('SOL')]: -1 })).status, 400)
  t.is((await postJson(`${sandbox.url}/dev/reset`, { what: ['nothing'] })).status, 400)
})
