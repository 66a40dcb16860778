import type { Knex } from 'knex'
import { type Entry, platformAccount, transferEntries } from '../ledger/accounts.js'
import { findTransfer, sameContent, type Transfer } from '../ledger/post-statement.js'
import { postTransfer } from '../ledger/transfers.js'

/** USDC of the treasury, sold for naira outside. The naira are in transit until the provider's balance shows them. */
interface Sale {
  readonly kind: 'sale'
  readonly micro: bigint
  readonly kobo: bigint
}

/** Money that the owners put in or take out. USDC is in the treasury at once; naira on their way to the float are in transit. */
interface Equity {
  readonly kind: 'equity'
  readonly currency: 'USDC' | 'NGN'
  readonly units: bigint
  readonly direction: 'in' | 'out'
}

/** A charge of the provider that it names at no payment and no transfer. It has left the float. */
interface ProviderCharge {
  readonly kind: 'fee'
  readonly kobo: bigint
}

/** What happens outside the service and an operator records. */
export type OutsideEvent = Sale | Equity | ProviderCharge

/** The ledger key: one event per kind and reference. */
function recordKey({ kind }: OutsideEvent, reference: string): string {
  return `record:${kind}:${reference}`
}

/** Whether something was booked under the reference of an event: this event, or another one. */
export async function findRecorded(
  db: Knex,
  event: OutsideEvent,
  reference: string,
): Promise<'same' | 'other' | undefined> {
  const transfer = transferOf(event, reference)
  const earlier = await findTransfer(db, transfer.idem)
  if (earlier === undefined) return undefined
  return sameContent(earlier, transfer) ? 'same' : 'other'
}

/** Books an event, in the caller's transaction. Throws when another one has the reference. */
export async function recordEvent(
  trx: Knex.Transaction,
  event: OutsideEvent,
  reference: string,
): Promise<void> {
  await postTransfer(trx, transferOf(event, reference))
}

function transferOf(event: OutsideEvent, reference: string): Transfer {
  const key = recordKey(event, reference)
  return { idem: key, kind: 'credit', ref: key, entries: entriesOf(event) }
}

/** What the platform has carries a minus. */
function entriesOf(event: OutsideEvent): Entry[] {
  if (event.kind === 'sale')
    return [
      ...transferEntries(event.micro, platformAccount('fx', 'USDC'), platformAccount('treasury', 'USDC')),
      ...transferEntries(event.kobo, platformAccount('in_transit', 'NGN'), platformAccount('fx', 'NGN')),
    ]
  if (event.kind === 'fee')
    return transferEntries(
      event.kobo,
      platformAccount('provider_fees', 'NGN'),
      platformAccount('float_ngn', 'NGN'),
    )
  const { currency, units, direction } = event
  const equity = platformAccount('equity', currency)
  if (direction === 'in')
    return transferEntries(
      units,
      platformAccount(currency === 'USDC' ? 'treasury' : 'in_transit', currency),
      equity,
    )
  return transferEntries(
    units,
    equity,
    platformAccount(currency === 'USDC' ? 'treasury' : 'float_ngn', currency),
  )
}
