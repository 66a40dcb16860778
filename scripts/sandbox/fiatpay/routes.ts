import type { Route } from '../http-route.js'
import { createRecipient, listBanks, resolveAccount } from './accounts.js'
import { charge, initialize, listTransactions, verifyTransaction } from './charges.js'
import { showCheckout, submitCheckout } from './checkout.js'
import { fiatpayControls } from './controls.js'
import { addEvidence, fetchDispute, listDisputes, nameFile, resolveDispute, storeFile } from './disputes.js'
import { answerInMode, answerOrRefusal, type Endpoint, ok } from './endpoint.js'
import type { Fiatpay } from './fiatpay.js'
import { createRefund, listRefunds } from './refunds.js'
import { Refusal } from './refusal.js'
import { listTransfers, sendTransfer, verifyTransfer } from './transfers.js'

const ofAccounts =
  (endpoint: Endpoint): Endpoint =>
  (fiatpay, request) =>
    answerInMode(fiatpay.faults.accountFault(fiatpay.calls.httpRequests), () => endpoint(fiatpay, request))
const ofCharges =
  (endpoint: Endpoint): Endpoint =>
  (fiatpay, request) =>
    answerInMode(fiatpay.faults.mode.charges, () => endpoint(fiatpay, request))

const endpoints: Readonly<Record<string, Endpoint>> = {
  'POST /transfer': sendTransfer,
  'GET /transfer': listTransfers,
  'GET /transfer/verify/*': verifyTransfer,
  'GET /balance': ({ balanceKobo }) => ok('Balances retrieved', [{ currency: 'NGN', balance: balanceKobo }]),
  'POST /refund': createRefund,
  'GET /refund': listRefunds,
  'GET /dispute': listDisputes,
  'GET /dispute/*': fetchDispute,
  'GET /dispute/*/upload_url': nameFile,
  'POST /dispute/*/evidence': addEvidence,
  'PUT /dispute/*/resolve': resolveDispute,
  'GET /bank': ofAccounts(listBanks),
  'GET /bank/resolve': ofAccounts(resolveAccount),
  'POST /transferrecipient': ofAccounts(createRecipient),
  'POST /transaction/initialize': ofCharges(initialize),
  'POST /charge': ofCharges(charge),
  'GET /transaction': ofCharges(listTransactions),
  'GET /transaction/verify/*': ofCharges(verifyTransaction),
}

/** The provider's API under `/fiatpay`, its checkout page and the controls, by method and path. */
export function fiatpayRoutes(fiatpay: Fiatpay): Record<string, Route> {
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

/** The endpoints that send money. */
const paying: readonly string[] = ['POST /transfer', 'POST /transferrecipient', 'POST /refund']

/** Makes a route of an endpoint: checks the secret key and counts the calls under the endpoint's name. */
function serve(fiatpay: Fiatpay, name: string, endpoint: Endpoint): Route {
  return (request) => {
    const { calls, faults, secretKey, oldKey, payoutKey } = fiatpay
    calls.httpRequests += 1
    calls.add(name)
    const keys =
      paying.includes(name) && payoutKey !== undefined ? [payoutKey] : [secretKey, oldKey, payoutKey]
    const known = keys.some((key) => key !== undefined && request.headers.authorization === `Bearer ${key}`)
    if (!known || faults.refusesEveryKey) return new Refusal('invalid_Key').answer
    return answerOrRefusal(() => endpoint(fiatpay, request))
  }
}
