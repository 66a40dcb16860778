import { z } from 'zod'
import { lastSegment } from '../../exchange.js'
import type { Behaviour } from '../behaviour.js'
import type { Book } from '../book.js'
import { type Endpoint, ok, okPage } from '../endpoint.js'
import { newestFirst, page } from '../listing.js'
import type { Charge } from '../records.js'
import { Refusal } from '../refusal.js'
import { transactionJson } from './transaction-json.js'

const onlyReference = z.string().max(200)

/** `GET /transaction/verify/:reference`: the transaction; of several payments the newest, which is one of its own. */
export function verifyTransaction(charges: Book<Charge>, behaviour: Behaviour): Endpoint {
  return (request) => {
    const reference = lastSegment(request)
    const [charge] = charges.under(reference)
    if (charge === undefined) throw new Refusal('transaction_not_found')
    const transaction = transactionJson(charge, charge.payments.at(-1))
    return ok('Verification successful', { ...transaction, ...behaviour.fault(reference).shows })
  }
}

/**
 * `GET /transaction`: one row for every payment and for every charge nobody paid, newest first; `reference`, a filter
 * the provider knows without telling, leaves those of one charge.
 */
export function listTransactions(charges: Book<Charge>): Endpoint {
  return (request) => {
    const reference = onlyReference
      .optional()
      .safeParse(request.url.searchParams.get('reference') ?? undefined)
    const wanted = reference.data === undefined ? charges.all() : charges.under(reference.data)
    const rows = wanted.flatMap((charge) =>
      charge.payments.length === 0
        ? [transactionJson(charge, undefined)]
        : charge.payments.map((payment) => transactionJson(charge, payment)),
    )
    rows.sort((one, other) => one.id - other.id)
    return okPage('Transactions retrieved', page(newestFirst(rows, request), request))
  }
}
