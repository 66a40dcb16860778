/** Token prices by mint, in pico-dollars (10^-12 USD) per token. 0n marks a faulty price. */
type PriceReading = ReadonlyMap<string, bigint>

/** The price feed. */
export interface PriceFeed {
  /** Current prices of these mints. A mint without a price is absent. Throws ProviderError when there is no usable answer. */
  read(mints: readonly string[]): Promise<PriceReading>
}
