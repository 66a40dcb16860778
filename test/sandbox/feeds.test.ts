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

const control = async (path: string, body: unknown) =>
  (await postJson(`${sandbox.url}/dev/${path}`, body)).status

test.serial(
  'every known token has a price in the provider’s format, and another one is absent',
  async (t) => {
    const answer = await prices(...tokens.map((token) => token.mint), unknownMint)
    const bySymbol = tokens.map((token) => [token.symbol, answer[token.mint]?.usdPrice])
    t.deepEqual(Object.fromEntries(bySymbol), { SOL: 150, USDC: 1, USDT: 1, BONK: 0.00002, JitoSOL: 180 })
    t.like(answer[mintOf('BONK')], { decimals: 5, blockId: null, priceChange24h: 0 })
    t.false(unknownMint in answer)
    for (const ids of ['', `?ids=${new Array(51).fill(unknownMint)}`])
      t.is((await fetch(`${sandbox.url}/price/v3${ids}`)).status, 400)
  },
)

test.serial('prices can be set, set to zero, removed and reset', async (t) => {
  const [sol, bonk, usdt] = ['SOL', 'BONK', 'USDT'].map(mintOf) as [string, string, string]
  await control('prices', { [sol]: 163.5, [bonk]: 0, [usdt]: null })
  const changed = await prices(sol, bonk, usdt)
  t.deepEqual([changed[sol]?.usdPrice, changed[bonk]?.usdPrice, usdt in changed], [163.5, 0, false])
  await control('reset', { what: ['prices'] })
  t.is((await prices(sol))[sol]?.usdPrice, 150)
  t.is(await control('prices', { [sol]: -1 }), 400)
  t.is(await control('reset', { what: ['nothing'] }), 400)
})

test.serial('the exchange rate can be changed, removed, outdated or unavailable', async (t) => {
  const url = `${sandbox.url}/rates/USD`
  const read = async () => (await (await fetch(url)).json()) as { rates: object; asOf: string }
  const first = await read()
  t.like(first, { base: 'USD', rates: { NGN: 1600 } })
  t.true(Math.abs(Date.parse(first.asOf) - Date.now()) < 60_000)
  await control('rates', { NGN: 1750.5 })
  t.deepEqual((await read()).rates, { NGN: 1750.5 })
  await control('rates', { NGN: null, asOf: '2026-01-01T00:00:00Z' })
  t.deepEqual(await read(), { base: 'USD', rates: {}, asOf: '2026-01-01T00:00:00Z' } as object)
  await control('rates', { feed: 'down' })
  t.is((await fetch(url)).status, 503)
  t.is(await control('rates', { NGN: '1600' }), 400)
  await control('reset', { what: ['rates'] })
  t.deepEqual((await read()).rates, { NGN: 1600 })
})
