import { z } from 'zod'
import { tokenByMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { control, json, RequestError, type Route } from './http-server.js'

/** The provider's limit of mints in one request. */
const mintsMax = 50
const unknownDecimals = 6
const createdAt = '2024-06-05T08:55:25.527Z'

const defaultPrices = [
  ['SOL', 150],
  ['USDC', 1],
  ['USDT', 1],
  ['BONK', 0.00002],
  ['JitoSOL', 180],
] as const

const priceUpdate = z.record(z.string().min(32).max(44), z.number().nonnegative().nullable())

/** The stand-in for the price feed, in the wire format of Jupiter's Price API v3. */
export class PriceFeed {
  readonly #usd = new Map<string, number>()

  constructor() {
    this.reset()
  }

  reset(): void {
    this.#usd.clear()
    for (const [symbol, usd] of defaultPrices) {
      const token = tokenBySymbol(symbol)
      if (token) this.#usd.set(token.mint, usd)
    }
  }

  /** Sets the price of a token in US dollars. `null` removes the price. 0 is a price. */
  set(mint: string, usd: number | null): void {
    if (usd === null) this.#usd.delete(mint)
    else this.#usd.set(mint, usd)
  }

  usd(mint: string): number | undefined {
    return this.#usd.get(mint)
  }

  /** `GET /price/v3?ids=a,b`: a map of the tokens that have a price. Other tokens are absent. */
  readonly answer: Route = ({ url }) => {
    const mints = (url.searchParams.get('ids') ?? '').split(',').filter(Boolean)
    if (mints.length === 0) throw new RequestError(400, 'ids is required')
    if (mints.length > mintsMax) throw new RequestError(400, `at most ${mintsMax} ids`)
    const priced = mints.flatMap((mint) => {
      const usdPrice = this.usd(mint)
      if (usdPrice === undefined) return []
      const decimals = tokenByMint(mint)?.decimals ?? unknownDecimals
      return [
        [mint, { createdAt, liquidity: 1_000_000, usdPrice, blockId: null, decimals, priceChange24h: 0 }],
      ]
    })
    return json(200, Object.fromEntries(priced))
  }

  readonly control = control(priceUpdate, (prices) => {
    for (const [mint, usd] of Object.entries(prices)) this.set(mint, usd)
  })
}

const nairaPerDollar = 1600
const rateMax = 1e9

const rateUpdate = z.strictObject({
  NGN: z.number().nonnegative().max(rateMax).nullish(),
  asOf: z.iso.datetime({ offset: true }).nullish(),
  feed: z.enum(['ok', 'down']).optional(),
})

type RateUpdate = z.output<typeof rateUpdate>

export class RateFeed {
  #set: RateUpdate = {}

  reset(): void {
    this.#set = {}
  }

  /**
   * Changes the named values. `NGN`: naira per US dollar, null: no rate. `asOf`: the rate's time, null: now. `feed`: with
   * `down` the feed answers 503.
   */
  set(update: RateUpdate): void {
    this.#set = { ...this.#set, ...update }
  }

  readonly answer: Route = () => {
    const { NGN = nairaPerDollar, asOf, feed } = this.#set
    if (feed === 'down') return { status: 503, type: 'text/plain', body: 'Service Unavailable' }
    const rates = NGN === null ? {} : { NGN }
    return json(200, { base: 'USD', rates, asOf: asOf ?? new Date().toISOString() })
  }

  readonly control = control(rateUpdate, (update) => this.set(update))
}
