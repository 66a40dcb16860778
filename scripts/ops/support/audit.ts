import type { Knex } from 'knex'

export interface AuditEntry {
  readonly actor: string
  /** Name of the script. */
  readonly action: string
  /** What it was done to, such as `user:<id>`. */
  readonly subject: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Writes down what an operator does, in the transaction that does it. */
export async function audit(trx: Knex.Transaction, entry: AuditEntry): Promise<void> {
  await trx('audit_log').insert({ ...entry, details: JSON.stringify(entry.details) })
}
