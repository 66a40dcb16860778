import { z } from 'zod'
import { lastSegment } from '../../http-route.js'
import { type Endpoint, ok, okPage } from '../endpoint.js'
import type { FiatpayFaults } from '../faults.js'
import { newestFirst, page } from '../paging.js'
import type { RecordStore } from '../record-store.js'
import type { Charge } from '../records.js'
import { Refusal } from '../refusal.js'
import { type PaymentContext, transactionJson, transactionStatus } from './transaction-json.js'

const referenceFilter = z.string().max(200)

interface TransactionContext extends PaymentContext {
  readonly charges: RecordStore<Charge>
  readonly faults: FiatpayFaults
}

/** `GET /transaction/verify/:reference`: the transaction of a charge. With several payments: the newest one's. */
export function verifyTransaction(context: TransactionContext): Endpoint {
  return (request) => {
    const reference = lastSegment(request)
    const [charge] = context.charges.listByReference(reference)
    if (charge === undefined) throw new Refusal('transaction_not_found')
    const payment = charge.payments.at(-1)
    const transaction = transactionJson(charge, payment, transactionStatus(context, charge, payment))
    return ok('Verification successful', { ...transaction, ...context.faults.faultFor(reference).shows })
  }
}

/**
 * `GET /transaction`: one row per payment and per unpaid charge, newest first. The filter `reference`, which the provider
 * supports but does not document, selects the rows of one charge.
 */
export function listTransactions(context: TransactionContext): Endpoint {
  return (request) => {
    const reference = referenceFilter
      .optional()
      .safeParse(request.url.searchParams.get('reference') ?? undefined)
    const { charges } = context
    const wanted = reference.data === undefined ? charges.all() : charges.listByReference(reference.data)
    const rows = wanted.flatMap((charge) =>
      (charge.payments.length === 0 ? [undefined] : charge.payments).map((payment) =>
        transactionJson(charge, payment, transactionStatus(context, charge, payment)),
      ),
    )
    rows.sort((one, other) => one.id - other.id)
    return okPage('Transactions retrieved', page(newestFirst(rows, request), request))
  }
}
