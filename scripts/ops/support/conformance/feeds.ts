import { randomBytes, randomUUID } from 'node:crypto'
import { encodeBase58 } from '../../../../src/kernel/base58.js'
import { tokens } from '../../../../src/kernel/tokens.js'
import { createPriceV3 } from '../../../../src/providers/price-feed/price-v3.js'
import { createSmtp } from '../../../../src/providers/smtp/smtp.js'
import { createUsdRates } from '../../../../src/providers/usd-rates/usd-rates.js'
import { ask, type Check, differs, NotAsked } from './check.js'
import type { Asked } from './settings.js'

/** A rate that is older than the longest weekend comes from a feed that stands still. */
const oldestRateMs = 4 * 86_400_000

export async function askPrices({ prices: { url, apiKey } }: Asked): Promise<Check[]> {
  return [
    await ask('prices', 'prices', async () => {
      if (url === undefined) throw new NotAsked('PRICE_URL is not set')
      const unknown = encodeBase58(randomBytes(32))
      const found = await createPriceV3({ url, apiKey }).read([...tokens.map(({ mint }) => mint), unknown])
      const missing = tokens.filter(({ mint }) => (found.get(mint) ?? 0n) === 0n).map(({ symbol }) => symbol)
      if (missing.length > 0) differs(`no price of ${missing.join(', ')}`)
      if (found.has(unknown)) differs('has a price of a token that does not exist')
      return `prices of ${tokens.length} tokens, none of an unknown one`
    }),
  ]
}

export async function askRates({ rates }: Asked): Promise<Check[]> {
  const checks: Check[] = []
  for (const [setting, url] of Object.entries(rates))
    checks.push(
      await ask('rates', setting, async () => {
        if (url === undefined) throw new NotAsked(`${setting} is not set`)
        const { value, asOf } = await createUsdRates({ url }).read()
        if (value === undefined) return differs('has no usable rate of the naira')
        if (Date.now() - asOf.getTime() > oldestRateMs) differs(`the rate is of ${asOf.toISOString()}`)
        return `a rate of ${asOf.toISOString()}`
      }),
    )
  return checks
}

/** `to`: gets one mail. */
export async function askMail({ mail }: Asked, to: string | undefined): Promise<Check[]> {
  return [
    await ask('smtp', 'login', async () => {
      if (mail === undefined) throw new NotAsked('SMTP_URL is not set')
      await createSmtp(mail).check()
      return 'accepts the login'
    }),
    await ask('smtp', 'send', async () => {
      if (mail === undefined) throw new NotAsked('SMTP_URL is not set')
      if (to === undefined) throw new NotAsked('give --mail-to: it sends one mail there')
      const text = 'This is the mail that `npm run ops -- conformance` sends. It needs no answer.'
      const content = { subject: 'Conformance test', text, html: `<p>${text}</p>` }
      await createSmtp(mail).send({ id: randomUUID(), to, ...content })
      return `accepts a mail to ${to.replace(/^.*@/, '…@')}: see that it arrives, and not as spam`
    }),
  ]
}
