import test from 'ava'
import { createCaller, startFiatFor } from './fiatpay/client.js'

interface Rates {
  readonly base: string
  readonly rates: { readonly NGN?: number }
  readonly asOf: string
}

test('the feed has a rate, which can be changed, removed, outdated or unavailable', async (t) => {
  const { url, rates, fiatpay, ...rest } = await startFiatFor(t)
  const { control } = createCaller({ url, rates, fiatpay, ...rest })
  const read = async () => (await (await fetch(`${url}/rates/USD`)).json()) as Rates
  const first = await read()
  t.like(first, { base: 'USD', rates: { NGN: 1600 } })
  t.true(Math.abs(Date.parse(first.asOf) - Date.now()) < 60_000)

  await control('rates', { NGN: 1750.5 })
  t.deepEqual((await read()).rates, { NGN: 1750.5 })
  await control('rates', { NGN: 0 })
  t.deepEqual((await read()).rates, { NGN: 0 })
  await control('rates', { NGN: null, asOf: '2026-01-01T00:00:00Z' })
  t.deepEqual(await read(), { base: 'USD', rates: {}, asOf: '2026-01-01T00:00:00Z' })
  await control('rates', { feed: 'down' })
  t.is((await fetch(`${url}/rates/USD`)).status, 503)
  for (const bad of [{ NGN: -1 }, { NGN: '1600' }, { EUR: 1 }, { asOf: 'today' }, 1600])
    t.is((await control('rates', bad)).status, 400, JSON.stringify(bad))
  rates.reset()
  t.deepEqual((await read()).rates, { NGN: 1600 })
})
