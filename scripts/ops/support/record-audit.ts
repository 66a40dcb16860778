import type { Knex } from 'knex'

export interface AuditEntry {
  readonly actor: string
  /** The command, such as `payouts replay`. */
  readonly action: string
  /** What was changed, such as `user:<id>`. */
  readonly subject: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Writes an operator's action to the audit log, in the transaction of the action. */
export async function recordAudit(trx: Knex.Transaction, entry: AuditEntry): Promise<void> {
  await trx('audit_log').insert({ ...entry, details: JSON.stringify(entry.details) })
}
