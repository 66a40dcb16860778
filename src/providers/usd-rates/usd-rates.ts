import { z } from 'zod'
import { baseUnits } from '../../kernel/money.js'
import { undocumented } from '../../kernel/provider-error.js'
import { requestJson } from '../../platform/http-client.js'
import { type ExchangeRateFeed, rateDecimals } from '../../ports/exchange-rates.js'

const timeoutMs = 3000
const maxBytes = 64 * 1024
/** A million naira per dollar. A feed with a higher rate is broken; the smallest charge would be worth nothing. */
const maxRate = 10n ** 6n * 10n ** BigInt(rateDecimals)

const reply = z.object({
  base: z.literal('USD'),
  rates: z.record(z.string(), z.unknown()),
  asOf: z.iso.datetime({ offset: true }),
})

/** Exchange rates in the form `{ base: "USD", rates: { NGN: 1600 }, asOf }`. */
export function createUsdRates({ url }: { url: string }): ExchangeRateFeed {
  return {
    async read() {
      const parsed = reply.safeParse(await requestJson(url, { timeoutMs, maxBytes }))
      if (!parsed.success) throw undocumented('the rate feed did not answer as documented', parsed.error)
      const { rates, asOf } = parsed.data
      const value = baseUnits(rates['NGN'], rateDecimals)
      return { value: value !== undefined && value < maxRate ? value : undefined, asOf: new Date(asOf) }
    },
  }
}
