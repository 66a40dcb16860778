import { DomainError } from '../kernel/errors.js'
import { singleFlight } from '../platform/single-flight.js'
import type { ExchangeRateReading } from '../ports/exchange-rates.js'
import type { Services } from '../services.js'
import {
  type AcceptedRate,
  acceptRate,
  ageOf,
  isRemembered,
  lastAccepted,
  lastRefused,
  refuseRate,
} from './accepted-rates.js'
import { findRateFault, longestLifeSeconds, type RateFault } from './exchange-rate-guard.js'

/** The feed is asked at most this often; after a reading that could not be used it is asked again sooner. */
const freshMs = 15_000
const pauseAfterFaultMs = 3000

type Needs = Pick<Services, 'db' | 'exchangeRates' | 'config' | 'log' | 'metrics'>

/** A rate and how long this process answers it without asking again. */
export interface CurrentRate extends AcceptedRate {
  readonly expiresAt: Date
}

/**
 * Naira for a dollar in one process: asked when needed, once for all who ask meanwhile. What it accepts are rows, which
 * every process judges the next reading by.
 */
export class ExchangeRates {
  readonly #services: Needs
  #current: CurrentRate | undefined
  #untilMs = Number.NEGATIVE_INFINITY
  #newestWasBad = false
  readonly #readTogether = singleFlight(() => this.#read())

  constructor(services: Needs) {
    this.#services = services
  }

  /** The rate that prices now. Throws `rate_unavailable`. */
  async current(): Promise<CurrentRate> {
    await this.refresh()
    if (this.#current === undefined) throw new DomainError('rate_unavailable')
    return this.#current
  }

  /** Asks the feed unless its last answer is fresh. */
  async refresh(): Promise<void> {
    if (performance.now() < this.#untilMs) return
    await this.#readTogether()
  }

  async #read(): Promise<void> {
    const { exchangeRates, log } = this.#services
    let reading: ExchangeRateReading
    try {
      reading = await exchangeRates.read()
    } catch (error) {
      log.warn({ err: error }, 'the rate feed gave no answer; the last rate serves for ten minutes')
      return this.#hold(await this.#lastGood(), pauseAfterFaultMs)
    }
    const accepted = await this.#judge(reading)
    this.#newestWasBad = accepted === undefined
    this.#hold(accepted, accepted === undefined ? pauseAfterFaultMs : freshMs)
  }

  async #judge({ value, asOf }: ExchangeRateReading): Promise<AcceptedRate | undefined> {
    const { db, config } = this.#services
    const [last, ageSeconds] = await Promise.all([lastAccepted(db), ageOf(db, asOf)])
    const accepted = last !== undefined && isRemembered(last) ? last.value : undefined
    const fault = findRateFault({ value, ageSeconds, accepted }, config.rates.jumpPercent)
    if (fault === undefined && value !== undefined) return acceptRate(db, { value, asOf }, 'feed')
    if (fault === 'jump' && value !== undefined) await refuseRate(db, { value, asOf })
    this.#alarm(fault)
    return undefined
  }

  /** The newest reading decides: a feed that goes away after a bad one does not make the one before it good again. */
  async #lastGood(): Promise<AcceptedRate | undefined> {
    const { db } = this.#services
    if (this.#newestWasBad || (await lastRefused(db)) !== undefined) return undefined
    const last = await lastAccepted(db)
    return last !== undefined && last.ageSeconds < longestLifeSeconds ? last : undefined
  }

  #hold(rate: AcceptedRate | undefined, ms: number): void {
    this.#current = rate && { ...rate, expiresAt: new Date(Date.now() + ms) }
    this.#untilMs = performance.now() + ms
  }

  #alarm(fault: RateFault | undefined): void {
    this.#services.metrics.alerts.inc({ kind: 'rate_refused' })
    this.#services.log.error(
      { fault },
      'an exchange rate is not usable: fiat tips wait for a good one, or for accept-rate',
    )
  }
}
