import { z } from 'zod'
import { picoUsd } from '../../kernel/money.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { requestJson } from '../../platform/http-client.js'
import type { PriceFeed } from '../../ports/prices.js'

const timeoutMs = 3000
const maxBytes = 256 * 1024
/** The feed's own limit of ids in one request. */
const maxIds = 50

const reply = z.record(z.string(), z.unknown())
const entry = z.object({ usdPrice: z.number() }).nullable()

/**
 * Prices in the Price v3 wire format: `GET ?ids=a,b` answers mint -> { usdPrice, ... }; an unpriced mint is absent.
 * At most 50 mints. A price that is zero, negative, vanishingly small or cannot be read is 0n: what is wrong with one
 * token says nothing about the others.
 */
export function createPriceV3({ url, apiKey }: { url: string; apiKey: string | undefined }): PriceFeed {
  return {
    async read(mints) {
      if (mints.length > maxIds) throw new RangeError(`the price feed is asked for at most ${maxIds} mints`)
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
  // Something else than prices, such as the text of an error: ignored, it would make every token look unpriced.
  if (!parsed.success || entries.some(({ mint, price }) => !price.success && !mints.includes(mint)))
    throw new ProviderError('ambiguous', 'the price feed did not answer as documented')
  return new Map(
    entries.flatMap(({ mint, price: { data } }) =>
      data === null ? [] : [[mint, picoUsd(data?.usdPrice) ?? 0n]],
    ),
  )
}
