/** A token price as read from the feed: pico-dollars (10^-12 USD) per token; 0n is a fault of the feed, never a price. */
type PriceReading = ReadonlyMap<string, bigint>

/** The price feed. */
export interface PriceFeed {
  /** Prices of these mints now; an unpriced mint is absent. Throws ProviderError when there is no usable answer. */
  read(mints: readonly string[]): Promise<PriceReading>
}
