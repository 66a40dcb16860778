import type { Knex } from 'knex'
import { usdcText } from '../../../../src/kernel/money.js'
import { readPosition } from '../../../../src/reserves/position.js'
import { findRecorded, type OutsideEvent, recordEvent } from '../../../../src/reserves/record-entries.js'
import { type Order, RefusedError } from '../order.js'

/** What an operator says about an event outside the service. */
export interface OutsideRecord {
  readonly event: OutsideEvent
  readonly reference: string
  readonly evidence: string
}

/**
 * Books an event and its line in the audit log, once per kind and reference. True when exactly this was recorded before.
 * Throws RefusedError when it cannot be recorded.
 */
export function recordOutside(
  db: Knex,
  { event, reference, evidence }: OutsideRecord,
  order: Order,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    // The treasury's sum is read under the lock, so that two sales do not both count on it.
    await trx.raw(`select pg_advisory_xact_lock(hashtextextended('treasury-records', 0))`)
    if (await checkOutside(trx, event, reference)) return true
    await recordEvent(trx, event, reference)
    await order.audit(trx, `treasury record-${event.kind}`, `record:${reference}`, { ...event, evidence })
    return false
  })
}

/** True when exactly this was recorded before. Throws RefusedError when it cannot be recorded. */
export async function checkOutside(db: Knex, event: OutsideEvent, reference: string): Promise<boolean> {
  const recorded = await findRecorded(db, event, reference)
  if (recorded === 'other')
    throw new RefusedError(`something else was recorded under the reference ${reference}`)
  if (recorded === undefined) await refuseBeyondTreasury(db, event)
  return recorded === 'same'
}

/** What the ledger's treasury does not have cannot be sold or taken out of it. */
async function refuseBeyondTreasury(db: Knex, event: OutsideEvent): Promise<void> {
  const leaves =
    event.kind === 'sale'
      ? event.micro
      : event.kind === 'equity' && event.currency === 'USDC' && event.direction === 'out'
        ? event.units
        : 0n
  if (leaves === 0n) return
  const { usdc } = await readPosition(db)
  if (usdc.treasury < leaves)
    throw new RefusedError(
      `the ledger's treasury has ${usdcText(usdc.treasury)}. Record what else came in there with record-equity --usdc`,
    )
}
