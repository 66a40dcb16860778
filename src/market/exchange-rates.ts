import { DomainError } from '../kernel/errors.js'
import { singleFlight } from '../platform/single-flight.js'
import type { ExchangeRateReading } from '../ports/exchange-rates.js'
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
  #newestWasRefused = false
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

  async #read(): Promise<void> {
    const { exchangeRates, secondExchangeRates, log } = this.#services
    let readings: [ExchangeRateReading, ExchangeRateReading | undefined]
    try {
      readings = await Promise.all([exchangeRates.read(), secondExchangeRates?.read()])
    } catch (error) {
      log.warn(
        { err: error },
        'an exchange rate feed gave no answer: the last accepted rate is used until it is ten minutes old',
      )
      return this.#cache(await this.#lastGood(), pauseAfterFaultMs)
    }
    const accepted = await this.#check(...readings)
    this.#newestWasRefused = accepted === undefined
    this.#cache(accepted, accepted === undefined ? pauseAfterFaultMs : freshMs)
  }

  async #check(
    { value, asOf }: ExchangeRateReading,
    other: ExchangeRateReading | undefined,
  ): Promise<AcceptedRate | undefined> {
    const { db, config } = this.#services
    const [window, ageSeconds, otherAge] = await Promise.all([
      readRateWindow(db),
      secondsSince(db, asOf),
      other === undefined ? 0 : secondsSince(db, other.asOf),
    ])
    const second = other && { value: other.value, ageSeconds: otherAge }
    const fault = findRateFault({ value, ageSeconds, window, second }, config.rates)
    if (fault === undefined && value !== undefined) return recordAcceptedRate(db, { value, asOf }, 'feed')
    if (fault !== 'stale' && value !== undefined) await recordRefusedRate(db, { value, asOf })
    this.#alert(fault)
    return undefined
  }

  /** Nothing if the newest reading was refused: that the feed is unavailable now does not make an older rate usable. */
  async #lastGood(): Promise<AcceptedRate | undefined> {
    const { db } = this.#services
    if (this.#newestWasRefused || (await findLastRefusedRate(db)) !== undefined) return undefined
    const last = await findLastAcceptedRate(db)
    return last !== undefined && last.ageSeconds < maxRateAgeSeconds ? last : undefined
  }

  #cache(rate: AcceptedRate | undefined, ms: number): void {
    this.#current = rate && { ...rate, expiresAt: new Date(Date.now() + ms) }
    this.#cachedUntilMs = performance.now() + ms
  }

  #alert(fault: RateFault | undefined): void {
    this.#services.metrics.alerts.inc({ kind: 'rate_refused' })
    this.#services.log.error(
      { fault },
      'an exchange rate cannot be used: fiat tips and withdrawals wait for a good one, or for accept-rate',
    )
  }
}
