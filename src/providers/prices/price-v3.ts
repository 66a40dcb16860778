import { z } from 'zod'
import { picoUsd } from '../../kernel/money.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { requestJson } from '../../platform/http-client.js'
import type { Prices } from './port.js'

const timeoutMs = 3000
const maxBytes = 256 * 1024
/** The feed's own limit of ids in one request. */
const maxIds = 50

const reply = z.record(z.string(), z.object({ usdPrice: z.number() }).nullable())

/**
 * Prices in the Price v3 wire format: `GET ?ids=a,b` answers mint -> { usdPrice, ... }; an unpriced mint is absent.
 * A price that is zero, negative or vanishingly small is read as 0n.
 */
export function createPriceV3({ url, apiKey }: { url: string; apiKey: string | undefined }): Prices {
  return {
    async read(mints) {
      const starts = mints.flatMap((_, index) => (index % maxIds === 0 ? [index] : []))
      const read = await Promise.all(starts.map((start) => readSome(mints.slice(start, start + maxIds))))
      return new Map(read.flat())
    },
  }
  async function readSome(mints: readonly string[]): Promise<[mint: string, price: bigint][]> {
    const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey }
    const address = `${url}?ids=${mints.join(',')}`
    const parsed = reply.safeParse(await requestJson(address, { headers, timeoutMs, maxBytes }))
    if (!parsed.success) throw new ProviderError('ambiguous', 'the price feed did not answer as documented')
    return mints.flatMap((mint): [string, bigint][] => {
      const price = parsed.data[mint]
      return price == null ? [] : [[mint, picoUsd(price.usdPrice) ?? 0n]]
    })
  }
}
