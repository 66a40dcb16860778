import { json, lastSegment } from '../../exchange.js'
import type { Tally } from '../../tally.js'
import type { Behaviour } from '../behaviour.js'
import type { Book } from '../book.js'
import { type Endpoint, ok, okPage, troubled } from '../endpoint.js'
import { newestFirst, page } from '../listing.js'
import type { Recipient, Transfer } from '../records.js'
import { transferJson } from './transfer-json.js'

/** Without a code, as the provider's pages show it. */
const notFound = json(404, { status: false, message: 'Transfer not found' })

/** What looking transfers up needs. */
export interface Archive {
  readonly transfers: Book<Transfer>
  readonly recipients: Book<Recipient>
  readonly behaviour: Behaviour
  /** How often each reference was looked up. */
  readonly lookups: Tally
}

/** `GET /transfer/verify/:reference`: the transfer, once it can be seen. */
export function verifyTransfer({ transfers, recipients, behaviour, lookups }: Archive): Endpoint {
  return (request) => {
    const reference = lastSegment(request)
    const trouble = behaviour.lookup(reference, lookups.add(reference))
    if (trouble === 'not-found') return notFound
    if (trouble !== 'ok') return troubled[trouble]
    const transfer = transfers.under(reference).filter(isVisible).at(-1)
    if (transfer === undefined) return notFound
    const shown = transferJson(transfer, recipients.find(transfer.recipientCode))
    return ok('Transfer retrieved', { ...shown, ...behaviour.fault(reference).shows })
  }
}

/** `GET /transfer`: the transfers that can be seen, newest first. */
export function listTransfers({ transfers, recipients }: Archive): Endpoint {
  return (request) => {
    const rows = transfers
      .all()
      .filter(isVisible)
      .map((transfer) => transferJson(transfer, recipients.find(transfer.recipientCode)))
    return okPage('Transfers retrieved', page(newestFirst(rows, request), request))
  }
}

function isVisible({ visibleAt }: Transfer): boolean {
  return Date.parse(visibleAt) <= Date.now()
}
