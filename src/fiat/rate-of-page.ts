import type { ExchangeRates } from '../market/exchange-rates.js'
import type { Config } from '../platform/config/config.js'
import { within } from '../platform/within.js'
import { quoteFiatTip } from './intents/create-intent.js'

/** A rate that takes longer does not hold a page up: its script asks for it. */
const mostMs = 300
/** Any amount gives the rate. A large one gives it exactly. */
const amountUsd = 100

/** What a document says of naira, so that its script need not ask: the form is there a round trip earlier. */
export async function rateOfPage(
  config: Pick<Config, 'tips' | 'fiat'>,
  rates: ExchangeRates,
): Promise<{ readonly rate?: string }> {
  const asked = quoteFiatTip(config, rates, Math.min(amountUsd, config.tips.maxUsd))
  const rate = await within(mostMs, asked).catch(() => undefined)
  return rate === undefined ? {} : { rate: JSON.stringify(rate) }
}
