import type { Mishap, Route, SandboxAnswer } from '../exchange.js'
import { listBanks, resolveAccount } from './banks.js'
import type { ChargeMode } from './behaviour.js'
import { charge, initialize } from './charges.js'
import { pressButton, showCheckout } from './checkout.js'
import { fiatpayControls } from './controls.js'
import { down, type Endpoint, garbage, serve } from './endpoint.js'
import type { Fiatpay } from './fiatpay.js'
import { createRecipient } from './recipients.js'
import { listTransactions, verifyTransaction } from './transactions.js'
import { listTransfers, verifyTransfer } from './transfer-lookups.js'
import { sendTransfer } from './transfers.js'

const chargeTroubles: Record<Exclude<ChargeMode, 'ok'>, SandboxAnswer | Mishap> = {
  down,
  timeout: 'silence',
  garbage,
}

/** The provider's API under `/fiatpay`, its page for payers, and the controls, by method and path. */
export function fiatpayRoutes(fiatpay: Fiatpay): Record<string, Route> {
  const { charges, recipients, behaviour, ids } = fiatpay
  const payouts: Record<string, Endpoint> = {
    'GET /bank': listBanks,
    'GET /bank/resolve': resolveAccount(recipients),
    'POST /transferrecipient': createRecipient(recipients, ids),
    'POST /transfer': sendTransfer(fiatpay),
    'GET /transfer': listTransfers(fiatpay),
    'GET /transfer/verify/*': verifyTransfer(fiatpay),
  }
  const collections: Record<string, Endpoint> = {
    'POST /transaction/initialize': initialize(charges, ids),
    'POST /charge': charge(charges, ids),
    'GET /transaction': listTransactions(charges),
    'GET /transaction/verify/*': verifyTransaction(charges, behaviour),
  }
  const ailing = Object.entries(collections).map(([name, endpoint]): [string, Endpoint] => [
    name,
    (request) => (behaviour.charges === 'ok' ? endpoint(request) : chargeTroubles[behaviour.charges]),
  ])
  const api = [...Object.entries(payouts), ...ailing].map(([name, endpoint]): [string, Route] => [
    name.replace(' ', ' /fiatpay'),
    serve(fiatpay, name, endpoint),
  ])
  return {
    ...Object.fromEntries(api),
    'GET /fiatpay/checkout/*': showCheckout(fiatpay),
    'POST /fiatpay/checkout/*': pressButton(fiatpay),
    ...fiatpayControls(fiatpay),
  }
}
