/** What one US dollar costs, as read from the feed. */
export interface ExchangeRateReading {
  /** Naira in units of 10^-8; undefined when the feed answers without a usable rate (absent, zero, negative). */
  readonly value: bigint | undefined
  /** The moment the feed says it is of. */
  readonly asOf: Date
}

/** The exchange-rate feed. */
export interface ExchangeRateFeed {
  /** Naira for a US dollar now. Throws ProviderError when there is no answer. */
  read(): Promise<ExchangeRateReading>
}

/** Decimals of a rate, here and in the database. */
export const rateDecimals = 8
