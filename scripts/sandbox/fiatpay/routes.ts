import type { Route, Routes } from '../http-server.js'
import { createRecipient, listBanks, resolveAccount } from './accounts.js'
import { answerInMode, type Endpoint, ok, Refusal } from './api.js'
import { charge, initialize, listTransactions, verifyTransaction } from './charges.js'
import { showCheckout, submitCheckout } from './checkout.js'
import { fiatpayControls } from './controls.js'
import { addEvidence, fetchDispute, listDisputes, nameFile, resolveDispute, storeFile } from './disputes.js'
import type { Fiatpay } from './fiatpay.js'
import { createRefund, listRefunds } from './refunds.js'
import { listTransfers, sendTransfer, verifyTransfer } from './transfers.js'

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
  'GET /bank': listBanks,
  'GET /bank/resolve': resolveAccount,
  'POST /transferrecipient': createRecipient,
  'POST /transaction/initialize': initialize,
  'POST /charge': charge,
  'GET /transaction': listTransactions,
  'GET /transaction/verify/*': verifyTransaction,
}
const paying = /^POST [/](transfer|transferrecipient|refund)$/
const ofAccounts = / [/](bank|bank[/]resolve|transferrecipient)$/
const ofCharges = / [/](charge|transaction)\b/

/** The provider's API under `/fiatpay`, its checkout page and the controls, by method and path. */
export function fiatpayRoutes(fiatpay: Fiatpay): Routes {
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

/** Makes a route of an endpoint: checks the secret key, counts the calls under the endpoint's name, and applies its mode. */
function serve(fiatpay: Fiatpay, name: string, endpoint: Endpoint): Route {
  const { calls, faults } = fiatpay
  const mode = () => {
    if (ofCharges.test(name)) return faults.mode.charges
    return ofAccounts.test(name) ? faults.accountFault(calls.httpRequests) : 'ok'
  }
  return (request) => {
    const { secretKey, payoutKey } = fiatpay
    calls.httpRequests += 1
    calls.add(name)
    const keys = paying.test(name) && payoutKey !== undefined ? [payoutKey] : [secretKey, payoutKey]
    const known = keys.some((key) => key !== undefined && request.headers.authorization === `Bearer ${key}`)
    if (!known || faults.refusesEveryKey) return new Refusal('invalid_Key').answer
    return answerInMode(mode(), () => endpoint(fiatpay, request))
  }
}
