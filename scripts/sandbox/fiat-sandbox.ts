import type { AddressInfo } from 'node:net'
import { RateFeed } from './feeds.js'
import { Fiatpay, type FiatpayOptions } from './fiatpay/fiatpay.js'
import { fiatpayRoutes } from './fiatpay/routes.js'
import { closeServer, listen, localhost } from './http-server.js'

/** The stand-ins for the fiat provider and the exchange-rate feed with their controls, without a chain. */
export interface FiatSandbox {
  readonly url: string
  readonly fiatpay: Fiatpay
  readonly rates: RateFeed
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

export async function startFiatSandbox(options: FiatpayOptions = {}): Promise<FiatSandbox> {
  const fiatpay = new Fiatpay(options)
  const rates = new RateFeed()
  const server = await listen(0, {
    ...fiatpayRoutes(fiatpay),
    'GET /rates/USD': rates.answer,
    'POST /dev/rates': rates.control,
  })
  const url = `http://${localhost}:${(server.address() as AddressInfo).port}`
  return {
    url,
    fiatpay,
    rates,
    env: {
      FIATPAY_URL: `${url}/fiatpay`,
      FIATPAY_SECRET_KEY: fiatpay.secretKey,
      ...(fiatpay.payoutKey !== undefined && { PAYOUT_SECRET_KEY: fiatpay.payoutKey }),
      RATE_URL: `${url}/rates/USD`,
    },
    async close() {
      await closeServer(server)
      fiatpay.close()
    },
  }
}
