import { randomBytes } from 'node:crypto'
import { encodeBase58 } from '../../../../src/kernel/base58.js'
import { tokens } from '../../../../src/kernel/tokens.js'
import { priceKeyOf } from '../../../../src/platform/config/config.js'
import { loadMail } from '../../../../src/platform/config/own-settings.js'
import { createPriceV3 } from '../../../../src/providers/price-feed/price-v3.js'
import { createSmtp } from '../../../../src/providers/smtp/smtp.js'
import { createUsdRates } from '../../../../src/providers/usd-rates/usd-rates.js'
import { type Asked, differs, missing, type Questions } from './check.js'

/** A rate that is older than the longest weekend comes from a feed that stands still. */
const oldestRateMs = 4 * 86_400_000

export function askPrices(asked: Asked): Questions | string {
  const { PRICE_URL: url } = asked
  if (url === undefined) return 'PRICE_URL is not set'
  const prices = async () => {
    const unknown = encodeBase58(randomBytes(32))
    const feed = createPriceV3({ url, apiKey: priceKeyOf(asked) })
    const found = await feed.read([...tokens.map(({ mint }) => mint), unknown])
    const lacking = tokens.filter(({ mint }) => (found.get(mint) ?? 0n) === 0n).map(({ symbol }) => symbol)
    if (lacking.length > 0) differs(`no price of ${lacking.join(', ')}`)
    if (found.has(unknown)) differs('has a price of a token that does not exist')
    return `prices of ${tokens.length} tokens, none of an unknown one`
  }
  return [['prices', prices]]
}

export function askRates({ RATE_URL, SECOND_RATE_URL }: Asked): Questions {
  return Object.entries({ RATE_URL, SECOND_RATE_URL }).map(([setting, url]) => [
    setting,
    async () => {
      const { value, asOf } = await createUsdRates({ url: url ?? missing(`${setting} is not set`) }).read()
      if (value === undefined) return differs('has no usable rate of the naira')
      if (Date.now() - asOf.getTime() > oldestRateMs) differs(`the rate is of ${asOf.toISOString()}`)
      return `a rate of ${asOf.toISOString()}`
    },
  ])
}

export function askMail(): Questions | string {
  if (!process.env['SMTP_URL']?.trim()) return 'SMTP_URL is not set'
  const mail = createSmtp(loadMail())
  return [['login', () => mail.check().then(() => 'accepts the login')]]
}
