import type { Counter } from '../../counters.js'
import { json, lastSegment } from '../../http-route.js'
import { type Endpoint, faultAnswers, ok, okPage } from '../endpoint.js'
import type { FiatpayFaults } from '../faults.js'
import { newestFirst, page } from '../paging.js'
import type { RecordStore } from '../record-store.js'
import type { Recipient, Transfer } from '../records.js'
import { transferJson } from './transfer-json.js'

/** It has no code, as in the provider's documentation. */
const notFound = json(404, { status: false, message: 'Transfer not found' })

/** What the lookups of transfers need. */
export interface LookupContext {
  readonly transfers: RecordStore<Transfer>
  readonly recipients: RecordStore<Recipient>
  readonly faults: FiatpayFaults
  /** How often each reference was looked up. */
  readonly lookups: Counter
}

/** `GET /transfer/verify/:reference`: the newest visible transfer with this reference. */
export function verifyTransfer({ transfers, recipients, faults, lookups }: LookupContext): Endpoint {
  return (request) => {
    const reference = lastSegment(request)
    const fault = faults.lookupFaultFor(reference, lookups.add(reference))
    if (fault === 'not-found') return notFound
    if (fault !== 'ok') return faultAnswers[fault]
    const transfer = transfers.listByReference(reference).filter(isVisible).at(-1)
    if (transfer === undefined) return notFound
    const shown = transferJson(transfer, recipients.find(transfer.recipientCode))
    return ok('Transfer retrieved', { ...shown, ...faults.faultFor(reference).shows })
  }
}

/** `GET /transfer`: the visible transfers, newest first. */
export function listTransfers({ transfers, recipients }: LookupContext): Endpoint {
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
