import type { Knex } from 'knex'
import { AuditEntry } from '../../../src/operators/models.js'

/** Writes an operator's action to the audit log, in the transaction of the action. */
export async function recordAudit(
  trx: Knex.Transaction,
  entry: Pick<AuditEntry, 'actor' | 'action' | 'subject' | 'details'>,
): Promise<void> {
  await AuditEntry.query(trx).insert(entry)
}
