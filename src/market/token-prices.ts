import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { displayText, picoDecimals } from '../kernel/money.js'
import { tokens } from '../kernel/tokens.js'
import { write } from '../platform/database/database.js'
import { singleFlight } from '../platform/single-flight.js'
import type { Services } from '../services.js'
import { checkPriceReading, noPrice, type PriceState } from './token-price-guard.js'

/** How long a reading is used before the feed is read again. */
const freshMs = 15_000
/** A price older than this is not used. */
const staleMs = 60_000
/** After a failed reading the feed is not called for this long, so that requests do not queue behind it. */
const pauseAfterFailureMs = 3000

/**
 * Live token prices for one process. Prices are cached for 15 s, concurrent callers share one read of the feed, and a jump
 * is checked by a second reading. Accepted prices are stored in the `prices` table, where read paths find the last known
 * price.
 */
export class TokenPrices {
  readonly #services: Pick<Services, 'db' | 'prices' | 'config' | 'log'>
  readonly #states = new Map<string, PriceState>()
  /** Tokens missing in the last answer. Their state stays, to detect a jump when they return. */
  readonly #unpriced = new Set<string>()
  #readAtMs = Number.NEGATIVE_INFINITY
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  readonly #readOnce = singleFlight(() => this.#read())

  constructor(services: Pick<Services, 'db' | 'prices' | 'config' | 'log'>) {
    this.#services = services
  }

  /** Pico-dollars per token; undefined when the feed does not price it. Throws `price_unavailable`. */
  async priceOf(mint: string): Promise<bigint | undefined> {
    if (performance.now() - this.#readAtMs > freshMs) await this.refresh()
    const now = performance.now()
    if (now - this.#readAtMs > staleMs) throw new DomainError('price_unavailable')
    if (this.#unpriced.has(mint)) return undefined
    const { accepted, suspect } = this.#states.get(mint) ?? noPrice
    if (accepted === undefined || suspect !== undefined || now - accepted.atMs > staleMs)
      throw new DomainError('price_unavailable')
    return accepted.price
  }

  /** Reads the feed now. Concurrent callers share one read. If it fails, the cached prices stay. */
  async refresh(): Promise<void> {
    if (performance.now() < this.#pausedUntilMs) return
    await this.#readOnce()
  }

  async #read(): Promise<void> {
    const { prices, log, db } = this.#services
    try {
      const readings = await prices.read(tokens.map(({ mint }) => mint))
      const atMs = performance.now()
      this.#readAtMs = atMs
      for (const { mint } of tokens) this.#check(mint, readings.get(mint), atMs)
      await storePrices(db, this.#acceptedAt(atMs))
    } catch (error) {
      this.#pausedUntilMs = performance.now() + pauseAfterFailureMs
      log.warn({ err: error }, 'the token price feed gave no usable answer')
    }
  }

  #check(mint: string, price: bigint | undefined, atMs: number): void {
    // A token missing in the answer has no price.
    if (price === undefined) {
      this.#unpriced.add(mint)
      return
    }
    this.#unpriced.delete(mint)
    const before = this.#states.get(mint) ?? noPrice
    const after = checkPriceReading(before, { price, atMs }, this.#services.config.prices.jumpPercent)
    this.#states.set(mint, after)
    if (after.suspect === undefined || before.suspect !== undefined) return
    this.#services.log.warn(
      { mint },
      'a token price jumped: intents with this token wait for a second reading that agrees',
    )
  }

  #acceptedAt(atMs: number): [mint: string, price: bigint][] {
    return [...this.#states].flatMap(([mint, { accepted }]) =>
      accepted?.atMs === atMs ? [[mint, accepted.price]] : [],
    )
  }
}

async function storePrices(db: Knex, prices: readonly [mint: string, price: bigint][]): Promise<void> {
  if (prices.length === 0) return
  const ordered = prices.toSorted(([a], [b]) => (a < b ? -1 : 1))
  await write(db, {
    name: 'prices.store',
    text: `insert into prices (mint, usd, source, as_of)
           select mint, usd, 'price-v3', clock_timestamp() from unnest($1::text[], $2::numeric[]) as p(mint, usd)
           on conflict (mint) do update set usd = excluded.usd, source = excluded.source, as_of = excluded.as_of`,
    values: [ordered.map(([mint]) => mint), ordered.map(([, price]) => displayText(price, picoDecimals))],
  })
}
