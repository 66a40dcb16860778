import { z } from 'zod'
import { control, json, type Route } from './http-server.js'

const nairaPerDollar = 1600
const rateMax = 1e9

const rateUpdate = z.strictObject({
  NGN: z.number().nonnegative().max(rateMax).nullish(),
  asOf: z.iso.datetime({ offset: true }).nullish(),
  feed: z.enum(['ok', 'down']).optional(),
})

type RateUpdate = z.output<typeof rateUpdate>

/** The stand-in for the exchange-rate feed. */
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

  /** `GET /rates/USD`: `{ base, rates: { NGN }, asOf }`. */
  readonly answer: Route = () => {
    const { NGN = nairaPerDollar, asOf, feed } = this.#set
    if (feed === 'down') return { status: 503, type: 'text/plain', body: 'Service Unavailable' }
    const rates = NGN === null ? {} : { NGN }
    return json(200, { base: 'USD', rates, asOf: asOf ?? new Date().toISOString() })
  }

  /** `POST /dev/rates { NGN?, asOf?, feed? }`. */
  readonly control = control(rateUpdate, (update) => this.set(update))
}
