import type { Mishap, Route, SandboxAnswer } from '../exchange.js'
import type { ChargeMode } from './behaviour.js'
import { charge, initialize } from './charges/charges.js'
import { pressButton, showCheckout } from './charges/checkout.js'
import { listTransactions, verifyTransaction } from './charges/transactions.js'
import { fiatpayControls } from './controls.js'
import { down, type Endpoint, garbage, serve, troubled } from './endpoint.js'
import type { Fiatpay } from './fiatpay.js'
import { listBanks, resolveAccount } from './transfers/banks.js'
import { createRecipient } from './transfers/recipients.js'
import { listTransfers, verifyTransfer } from './transfers/transfer-lookups.js'
import { sendTransfer } from './transfers/transfers.js'

type Endpoints = Readonly<Record<string, Endpoint>>

const chargeTroubles: Record<Exclude<ChargeMode, 'ok'>, SandboxAnswer | Mishap> = {
  down,
  timeout: 'silence',
  garbage,
}

/** The provider's API under `/fiatpay`, its page for payers, and the controls, by method and path. */
export function fiatpayRoutes(fiatpay: Fiatpay): Record<string, Route> {
  const { charges, recipients, behaviour, ids } = fiatpay
  const transfers: Endpoints = {
    'POST /transfer': sendTransfer(fiatpay),
    'GET /transfer': listTransfers(fiatpay),
    'GET /transfer/verify/*': verifyTransfer(fiatpay),
  }
  const accounts: Endpoints = {
    'GET /bank': listBanks,
    'GET /bank/resolve': resolveAccount(recipients),
    'POST /transferrecipient': createRecipient(recipients, ids),
  }
  const collections: Endpoints = {
    'POST /transaction/initialize': initialize(charges, ids),
    'POST /charge': charge(charges, ids),
    'GET /transaction': listTransactions(charges),
    'GET /transaction/verify/*': verifyTransaction(charges, behaviour),
  }
  const endpoints: Endpoints = {
    ...transfers,
    ...ailing(accounts, () => {
      const trouble = behaviour.account(fiatpay.calls.httpRequests)
      return trouble === 'ok' ? undefined : troubled[trouble]
    }),
    ...ailing(collections, () =>
      behaviour.charges === 'ok' ? undefined : chargeTroubles[behaviour.charges],
    ),
  }
  const api = Object.entries(endpoints).map(([name, endpoint]): [string, Route] => [
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

/** The endpoints, with what `ailment` says instead of their answers. */
function ailing(endpoints: Endpoints, ailment: () => SandboxAnswer | Mishap | undefined): Endpoints {
  const wrapped = Object.entries(endpoints).map(([name, endpoint]): [string, Endpoint] => [
    name,
    (request) => ailment() ?? endpoint(request),
  ])
  return Object.fromEntries(wrapped)
}
