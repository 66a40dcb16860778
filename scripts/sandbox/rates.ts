import { z } from 'zod'
import { json, type Route, readControl } from './exchange.js'

const nairaPerDollar = 1600
const rateMax = 1e9

const rateUpdate = z.strictObject({
  NGN: z.number().nonnegative().max(rateMax).nullish(),
  asOf: z.iso.datetime({ offset: true }).nullish(),
  feed: z.enum(['ok', 'down']).optional(),
})

type RateUpdate = z.output<typeof rateUpdate>

/** Stands in for the exchange-rate feed. */
export class RateFeed {
  #set: RateUpdate = {}

  reset(): void {
    this.#set = {}
  }

  /**
   * Changes what the update names. `NGN`: naira for a US dollar, null: the feed has none; `asOf`: the time the rate is
   * said to be of, null: now; `feed`: `down` answers 503.
   */
  set(update: RateUpdate): void {
    this.#set = { ...this.#set, ...update }
  }

  /** `GET /rates/USD`: `{ base, rates: { NGN }, asOf }`. */
  readonly answer: Route = () => {
    const { NGN = nairaPerDollar, asOf, feed } = this.#set
    if (feed === 'down') return { status: 503, type: 'text/plain', body: 'Service Unavailable' }
    const rates = NGN === null ? {} : { NGN }
    return json(200, { base: 'USD', rates, asOf: asOf ?? new Date().toISOString() })
  }

  /** `POST /dev/rates { NGN?, asOf?, feed? }`. */
  readonly control: Route = (request) => {
    this.set(readControl(rateUpdate, request))
    return json(200, { success: true })
  }
}
