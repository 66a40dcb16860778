import { DomainError } from '../kernel/errors.js'
import { singleFlight } from '../platform/single-flight.js'
import type { ExchangeRateFeed, ExchangeRateReading } from '../ports/exchange-rates.js'
import type { Services } from '../services.js'
import {
  type AcceptedRate,
  findLastAcceptedRate,
  findLastRefusedRate,
  readRateWindow,
  recordAcceptedRate,
  recordRefusedRate,
  secondsSince,
} from './accepted-rates.js'
import { findRateFault, maxRateAgeSeconds, type RateFault } from './exchange-rate-guard.js'

/** How long a usable reading is cached, and how long a fault is. */
const freshMs = 15_000
const pauseAfterFaultMs = 3000

type Needs = Pick<Services, 'db' | 'exchangeRates' | 'secondExchangeRates' | 'config' | 'log' | 'metrics'>

/** A rate and the time until which this process caches it. */
export interface CurrentRate extends AcceptedRate {
  readonly expiresAt: Date
}

/**
 * Naira per dollar for one process. It reads the feed when a rate is needed and the cached one has expired; concurrent
 * callers share one read. Accepted rates are rows, so every process compares the next reading with the same rate.
 */
export class ExchangeRates {
  readonly #services: Needs
  #current: CurrentRate | undefined
  #cachedUntilMs = Number.NEGATIVE_INFINITY
  /** Of the newest reading that was answered. */
  #fault: RateFault | undefined
  /** The last reading was refused, or a feed gave no answer. */
  #isFaulty = false
  readonly #readOnce = singleFlight(() => this.#read())

  constructor(services: Needs) {
    this.#services = services
  }

  /** The current rate. Throws `rate_unavailable`. */
  async current(): Promise<CurrentRate> {
    await this.refresh()
    if (this.#current === undefined) throw new DomainError('rate_unavailable')
    return this.#current
  }

  /** Reads the feed unless the last reading is still cached. */
  async refresh(): Promise<void> {
    if (performance.now() < this.#cachedUntilMs) return
    await this.#readOnce()
  }

  /** Reads again soon after a fault, so that its alarm goes on while nobody asks for a rate. */
  async refreshAfterFault(): Promise<void> {
    if (this.#isFaulty) await this.refresh()
  }

  async #read(): Promise<void> {
    this.#isFaulty = false
    const { exchangeRates, secondExchangeRates } = this.#services
    const [first, second] = await Promise.all([
      this.#ask('first', exchangeRates),
      secondExchangeRates && this.#ask('second', secondExchangeRates),
    ])
    if (first === 'unanswered') return this.#cache(await this.#lastGood(), pauseAfterFaultMs)
    const { fault, accepted } = await this.#check(first, second)
    // Nothing speaks against the reading, but it proves nothing without the second feed.
    const lastGood = fault === 'unconfirmed' ? await this.#lastGood() : undefined
    if (lastGood !== undefined) return this.#cache(lastGood, pauseAfterFaultMs)
    this.#fault = fault
    if (accepted === undefined) await this.#refuse(first, fault)
    this.#cache(accepted, accepted === undefined ? pauseAfterFaultMs : freshMs)
  }

  async #ask(which: 'first' | 'second', feed: ExchangeRateFeed): Promise<ExchangeRateReading | 'unanswered'> {
    try {
      return await feed.read()
    } catch (error) {
      this.#isFaulty = true
      this.#services.metrics.alerts.inc({ kind: 'rate_feed_away' })
      this.#services.log.error(
        { err: error, feed: which },
        'an exchange rate feed gave no answer: the last accepted rate is used until it is ten minutes old',
      )
      return 'unanswered'
    }
  }

  async #check(
    { value, asOf }: ExchangeRateReading,
    other: ExchangeRateReading | 'unanswered' | undefined,
  ): Promise<{ readonly fault: RateFault | undefined; readonly accepted: AcceptedRate | undefined }> {
    const { db, config } = this.#services
    const isAnswered = typeof other === 'object'
    const [window, ageSeconds, otherAge] = await Promise.all([
      readRateWindow(db),
      secondsSince(db, asOf),
      isAnswered ? secondsSince(db, other.asOf) : 0,
    ])
    const second = isAnswered ? { value: other.value, ageSeconds: otherAge } : other
    const fault = findRateFault({ value, ageSeconds, window, second }, config.rates)
    const isGood = fault === undefined && value !== undefined
    return { fault, accepted: isGood ? await recordAcceptedRate(db, { value, asOf }, 'feed') : undefined }
  }

  async #refuse({ value, asOf }: ExchangeRateReading, fault: RateFault | undefined): Promise<void> {
    const { db, metrics, log } = this.#services
    if (fault !== 'stale' && value !== undefined) await recordRefusedRate(db, { value, asOf })
    this.#isFaulty = true
    metrics.alerts.inc({ kind: 'rate_refused' })
    log.error(
      { fault },
      'an exchange rate cannot be used: fiat tips and withdrawals wait for a good one, or for accept-rate',
    )
  }

  /**
   * The last accepted rate, unless it is old or another one was refused since. Nothing if the newest reading was refused: that the feed is
   * unavailable now does not make an older rate usable.
   */
  async #lastGood(): Promise<AcceptedRate | undefined> {
    const { db } = this.#services
    if (this.#fault !== undefined || (await findLastRefusedRate(db)) !== undefined) return undefined
    const last = await findLastAcceptedRate(db)
    return last !== undefined && last.ageSeconds < maxRateAgeSeconds ? last : undefined
  }

  #cache(rate: AcceptedRate | undefined, ms: number): void {
    this.#current = rate && { ...rate, expiresAt: new Date(Date.now() + ms) }
    this.#cachedUntilMs = performance.now() + ms
  }
}
