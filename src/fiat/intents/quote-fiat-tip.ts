import { displayNumber } from '../../kernel/money.js'
import type { ExchangeRates } from '../../market/exchange-rates.js'
import type { Config } from '../../platform/config/config.js'
import { rateDecimals } from '../../ports/exchange-rates.js'
import { presentFiatDetails, priceFiatTip } from '../fees.js'
import type { FiatRateAnswer } from '../schemas.js'
import { parseUsdCents } from './amount-limits.js'

/** What a fiat tip would charge now (API: GET /payments/fiat/rate). Throws `invalid_amount`, `rate_unavailable`. */
export async function quoteFiatTip(
  config: Pick<Config, 'tips' | 'fiat'>,
  rates: ExchangeRates,
  amount: number,
): Promise<FiatRateAnswer> {
  const cents = parseUsdCents(amount, config.tips)
  const rate = await rates.current()
  return {
    base: 'USD',
    currency: 'NGN',
    rate: displayNumber(rate.value, rateDecimals),
    amountUsd: displayNumber(cents, 2),
    ...presentFiatDetails(priceFiatTip(cents, rate.value, config.fiat.chargeBasis)),
    asOf: rate.asOf.toISOString(),
    expiresAt: rate.expiresAt.toISOString(),
  }
}
