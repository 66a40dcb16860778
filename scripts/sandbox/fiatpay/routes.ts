import type { NoAnswer, Route, SandboxAnswer } from '../http-route.js'
import { showBalance } from './balance.js'
import { charge, initialize } from './charges/charges.js'
import { showCheckout, submitCheckout } from './charges/checkout.js'
import { listTransactions, verifyTransaction } from './charges/transactions.js'
import { fiatpayControls } from './controls.js'
import {
  addEvidence,
  fetchDispute,
  listDisputes,
  nameFile,
  resolveDispute,
  storeFile,
} from './disputes/disputes.js'
import { down, type Endpoint, faultAnswers, garbage, serve } from './endpoint.js'
import type { ChargeMode } from './faults.js'
import type { Fiatpay } from './fiatpay.js'
import { createRefund, listRefunds } from './refunds/refunds.js'
import { listBanks, resolveAccount } from './transfers/banks.js'
import { createRecipient } from './transfers/recipients.js'
import { listTransfers, verifyTransfer } from './transfers/transfer-lookups.js'
import { sendTransfer } from './transfers/transfers.js'

type Endpoints = Readonly<Record<string, Endpoint>>

const chargeFaultAnswers: Record<Exclude<ChargeMode, 'ok'>, SandboxAnswer | NoAnswer> = {
  down,
  timeout: 'hang',
  garbage,
}

/** The provider's API under `/fiatpay`, its checkout page and the controls, by method and path. */
export function fiatpayRoutes(fiatpay: Fiatpay): Record<string, Route> {
  const { charges, recipients, faults, ids } = fiatpay
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
    'GET /transaction': listTransactions(fiatpay),
    'GET /transaction/verify/*': verifyTransaction(fiatpay),
  }
  const refunds: Endpoints = {
    'POST /refund': createRefund(fiatpay),
    'GET /refund': listRefunds(fiatpay),
  }
  const disputes: Endpoints = {
    'GET /dispute': listDisputes(fiatpay),
    'GET /dispute/*': fetchDispute(fiatpay),
    'GET /dispute/*/upload_url': nameFile(fiatpay),
    'POST /dispute/*/evidence': addEvidence(fiatpay),
    'PUT /dispute/*/resolve': resolveDispute(fiatpay),
  }
  const endpoints: Endpoints = {
    ...transfers,
    'GET /balance': showBalance(fiatpay),
    ...refunds,
    ...disputes,
    ...withFaults(accounts, () => {
      const fault = faults.accountFault(fiatpay.calls.httpRequests)
      return fault === 'ok' ? undefined : faultAnswers[fault]
    }),
    ...withFaults(collections, () =>
      faults.chargeMode === 'ok' ? undefined : chargeFaultAnswers[faults.chargeMode],
    ),
  }
  const api = Object.entries(endpoints).map(([name, endpoint]): [string, Route] => [
    name.replace(' ', ' /fiatpay'),
    serve(fiatpay, name, endpoint),
  ])
  return {
    ...Object.fromEntries(api),
    'GET /fiatpay/checkout/*': showCheckout(fiatpay),
    'POST /fiatpay/checkout/*': submitCheckout(fiatpay),
    'PUT /fiatpay/uploads/*': storeFile(fiatpay),
    ...fiatpayControls(fiatpay),
  }
}

/** Wraps endpoints: what `faultAnswer` returns is answered instead of calling them. */
function withFaults(
  endpoints: Endpoints,
  faultAnswer: () => SandboxAnswer | NoAnswer | undefined,
): Endpoints {
  const wrapped = Object.entries(endpoints).map(([name, endpoint]): [string, Endpoint] => [
    name,
    (request) => faultAnswer() ?? endpoint(request),
  ])
  return Object.fromEntries(wrapped)
}
