/** The price of one US dollar, as read from the feed. */
export interface ExchangeRateReading {
  /** Naira in units of 10^-8; undefined when the feed has no usable rate (absent, zero, negative). */
  readonly value: bigint | undefined
  /** The time of the rate, according to the feed. */
  readonly asOf: Date
}

/** The exchange-rate feed. */
export interface ExchangeRateFeed {
  /** The current rate. Throws ProviderError when there is no answer. */
  read(): Promise<ExchangeRateReading>
}

/** Decimals of a rate, here and in the database. */
export const rateDecimals = 8
