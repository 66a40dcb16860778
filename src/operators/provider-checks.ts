import { solMint } from '../kernel/tokens.js'
import type { Measure } from '../platform/monitoring/measurements.js'
import type { Services } from '../services.js'

/** The providers that are asked whether they answer, besides PostgreSQL and Redis. */
export const providers = ['chain', 'prices', 'rates', 'fiatpay', 'mail'] as const
type Provider = (typeof providers)[number]

/** How often one is asked that answers, and one that does not. A rate feed may be paid by the call. */
const seconds: Readonly<Record<Provider, number>> = {
  chain: 30,
  prices: 60,
  rates: 300,
  fiatpay: 60,
  mail: 60,
}
const secondsWhileAway = 15

/** A check of a provider as a measurement that all processes share. `ask` throws when there is no usable answer. */
export function providerCheck(name: Provider, ask: () => Promise<unknown>): Measure {
  return {
    name,
    everySeconds: (value) => (isAvailable(value) ? seconds[name] : secondsWhileAway),
    measure: () =>
      ask().then(
        () => ({ available: true }),
        () => ({ available: false }),
      ),
  }
}

/** What was never asked counts as available: a provider that nobody uses yet is no alarm. */
export function isAvailable(value: unknown): boolean {
  return (value as { readonly available?: boolean } | undefined)?.available !== false
}

/** The checks that this process has the settings for. */
export function providerChecks({
  config,
  chain,
  prices,
  exchangeRates,
  payouts,
}: Pick<Services, 'config' | 'chain' | 'prices' | 'exchangeRates' | 'payouts'>): Measure[] {
  const hasChain = config.chain.rpcUrls !== undefined
  const hasRates = config.rates.url !== undefined
  const hasFiatpay = (config.fiatpay.secretKey ?? config.fiatpay.payoutKey) !== undefined
  return [
    ...(hasChain ? [providerCheck('chain', () => chain.blockHeight())] : []),
    // Web and the clock: those that use prices.
    ...(hasChain && hasRates ? [providerCheck('prices', () => askPrice(prices))] : []),
    ...(hasRates ? [providerCheck('rates', () => askRate(exchangeRates))] : []),
    ...(hasFiatpay ? [providerCheck('fiatpay', () => payouts.readBalance())] : []),
  ]
}

async function askPrice(prices: Services['prices']): Promise<void> {
  if (!((await prices.read([solMint])).get(solMint) ?? 0n)) throw new Error('no price of SOL')
}

async function askRate(feed: Services['exchangeRates']): Promise<void> {
  if ((await feed.read()).value === undefined) throw new Error('no rate')
}
