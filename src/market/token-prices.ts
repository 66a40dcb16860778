import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { displayText, picoDecimals } from '../kernel/money.js'
import { tokens } from '../kernel/tokens.js'
import { query } from '../platform/database/database.js'
import { singleFlight } from '../platform/single-flight.js'
import type { Services } from '../services.js'
import { checkReading, noPrice, type PriceState } from './token-price-guard.js'

/** The feed is asked at most this often, whatever the number of intents. */
const freshMs = 15_000
/** Older than this, a price is none. */
const staleMs = 60_000
/** After an answer that could not be used, the feed is left alone this long: nobody queues up behind a dead feed. */
const pauseAfterFailureMs = 3000

/**
 * Live token prices for one process: cached 15 s, one request to the feed for all who ask meanwhile, jumps held
 * back. What it accepts is kept in the `prices` table, where read paths find the last known price.
 */
export class TokenPrices {
  readonly #services: Pick<Services, 'db' | 'prices' | 'config' | 'log' | 'metrics'>
  readonly #states = new Map<string, PriceState>()
  /** Left out by the feed's last answer. Their state stays: it tells a jump when they come back. */
  readonly #unpriced = new Set<string>()
  #readAtMs = Number.NEGATIVE_INFINITY
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  readonly #readTogether = singleFlight(() => this.#read())

  constructor(services: Pick<Services, 'db' | 'prices' | 'config' | 'log' | 'metrics'>) {
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

  /** Asks the feed now, once for all who ask meanwhile. A feed that fails leaves the book as it is. */
  async refresh(): Promise<void> {
    if (performance.now() < this.#pausedUntilMs) return
    await this.#readTogether()
  }

  async #read(): Promise<void> {
    const { prices, log, db } = this.#services
    try {
      const readings = await prices.read(tokens.map(({ mint }) => mint))
      const atMs = performance.now()
      this.#readAtMs = atMs
      for (const { mint } of tokens) this.#note(mint, readings.get(mint), atMs)
      await keepPrices(db, this.#acceptedAt(atMs))
    } catch (error) {
      this.#pausedUntilMs = performance.now() + pauseAfterFailureMs
      log.warn({ err: error }, 'the price feed gave no usable answer')
    }
  }

  #note(mint: string, price: bigint | undefined, atMs: number): void {
    // A feed that answers without a token says that it has no price.
    if (price === undefined) {
      this.#unpriced.add(mint)
      return
    }
    this.#unpriced.delete(mint)
    const before = this.#states.get(mint) ?? noPrice
    const after = checkReading(before, { price, atMs }, this.#services.config.prices.jumpPercent)
    this.#states.set(mint, after)
    if (after.suspect === undefined || before.suspect !== undefined) return
    this.#services.metrics.alerts.inc({ kind: 'price_jump' })
    this.#services.log.warn({ mint }, 'a price jumped; intents wait for a second reading')
  }

  #acceptedAt(atMs: number): [mint: string, price: bigint][] {
    return [...this.#states].flatMap(([mint, { accepted }]) =>
      accepted?.atMs === atMs ? [[mint, accepted.price]] : [],
    )
  }
}

async function keepPrices(db: Knex, prices: readonly [mint: string, price: bigint][]): Promise<void> {
  if (prices.length === 0) return
  const inOrder = prices.toSorted(([a], [b]) => (a < b ? -1 : 1))
  await query(db, {
    name: 'prices.keep',
    text: `insert into prices (mint, usd, source, as_of)
           select mint, usd, 'price-v3', clock_timestamp() from unnest($1::text[], $2::numeric[]) as p(mint, usd)
           on conflict (mint) do update set usd = excluded.usd, source = excluded.source, as_of = excluded.as_of`,
    values: [inOrder.map(([mint]) => mint), inOrder.map(([, price]) => displayText(price, picoDecimals))],
  })
}
