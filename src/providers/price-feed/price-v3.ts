import { z } from 'zod'
import { picoUsd } from '../../kernel/money.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { requestJson } from '../../platform/http-client.js'
import type { PriceFeed } from '../../ports/prices.js'

const timeoutMs = 3000
const maxBytes = 256 * 1024
/** The feed's limit of ids in one request. */
const maxIds = 50

const reply = z.record(z.string(), z.unknown())
const entry = z.object({ usdPrice: z.number() }).nullable()

/**
 * Prices in Jupiter's Price v3 format: `GET ?ids=a,b` answers mint -> { usdPrice, ... }; a mint without a price is
 * absent. At most 50 mints. A price that is zero, negative, below a pico-dollar or unreadable becomes 0n, so that one
 * faulty token does not affect the others.
 */
export function createPriceV3({ url, apiKey }: { url: string; apiKey: string | undefined }): PriceFeed {
  return {
    async read(mints) {
      if (mints.length > maxIds) throw new RangeError(`the price feed takes at most ${maxIds} mints`)
      const address = `${url}?ids=${mints.join(',')}`
      const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey }
      return pricesIn(await requestJson(address, { headers, timeoutMs, maxBytes }), mints)
    },
  }
}

function pricesIn(answer: unknown, mints: readonly string[]): Map<string, bigint> {
  const parsed = reply.safeParse(answer)
  const entries = Object.entries(parsed.data ?? {}).map(([mint, price]) => ({
    mint,
    price: entry.safeParse(price),
  }))
  // Not prices, for example an error text. Ignoring it would make every token look unpriced.
  if (!parsed.success || entries.some(({ mint, price }) => !price.success && !mints.includes(mint)))
    throw new ProviderError('ambiguous', 'the price feed did not answer as documented')
  return new Map(
    entries.flatMap(({ mint, price: { data } }) =>
      data === null ? [] : [[mint, picoUsd(data?.usdPrice) ?? 0n]],
    ),
  )
}
