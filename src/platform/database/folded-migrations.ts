import type { Knex } from 'knex'

/** The migrations before they were folded into one file per feature (docs/decisions/0054). */
export const migrationsBefore = [
  '0001-accounts',
  '0002-payments',
  '0003-tips',
  '0004-mail-and-codes',
  '0005-ledger',
  '0006-creators',
  '0007-sdk',
  '0008-audit',
  '0009-idempotency',
  '0012-verification',
  '0013-fiat',
  '0016-payouts',
  '0017-banks',
  '0018-reconciliation',
  '0019-swaps',
  '0020-reviews',
  '0021-paid-amounts',
  '0022-money-holes-in-naira',
  '0023-hardening',
  '0024-flat-lists',
  '0025-messages',
  '0026-sign-in-links',
  '0027-bank-codes',
  '0028-state-machines',
]

/** What they were folded into. Both make the same schema. No name is in both lists, so that a name says which it is. */
export const foldedMigrations = [
  '0001-platform',
  '0002-mail',
  '0003-accounts',
  '0004-creators',
  '0005-market',
  '0006-sdk',
  '0007-ledger',
  '0008-intents',
  '0009-tips',
  '0010-fiat',
  '0011-withdrawals',
  '0012-audit',
]

/**
 * Recognises a database that the migrations before the folding made: renames them in knex's table, in one transaction. Throws
 * when some of them are missing, because the rest is not in this release.
 */
export async function renameFoldedMigrations(db: Knex): Promise<void> {
  if (!(await db.schema.hasTable('knex_migrations'))) return
  await db.transaction(async (trx) => {
    const found: string[] = await trx('knex_migrations').whereIn('name', migrationsBefore).pluck('name')
    if (found.length === 0) return
    const missing = migrationsBefore.filter((name) => !found.includes(name))
    if (missing.length > 0)
      throw new Error(
        `this database is too old for this release: it lacks ${missing.join(', ')}. Migrate it first with the last release that has migrations/0028-state-machines.ts, then with this one (docs/decisions/0054)`,
      )
    await trx('knex_migrations').whereIn('name', migrationsBefore).delete()
    const migration_time = new Date()
    await trx('knex_migrations').insert(foldedMigrations.map((name) => ({ name, batch: 1, migration_time })))
  })
}
