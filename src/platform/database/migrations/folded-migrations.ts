import type { Knex } from 'knex'

/**
 * The migrations before they were folded into one file per feature (docs/decisions/0054). A database that has the first of
 * them gets the others, which stand in migrations/before-folding.
 */
const firstBefore = [
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
]
const laterBefore = [
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
export const migrationsBefore = [...firstBefore, ...laterBefore]

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

/** The old names that are missing in a database that the migrations before the folding made. Throws when it is too old. */
export async function missingBeforeFolding(db: Knex): Promise<string[]> {
  if (!(await db.schema.hasTable('knex_migrations'))) return []
  const found: string[] = await db('knex_migrations').whereIn('name', migrationsBefore).pluck('name')
  if (found.length === 0) return []
  const missing = migrationsBefore.filter((name) => !found.includes(name))
  const tooOld = missing.filter((name) => firstBefore.includes(name))
  if (tooOld.length > 0)
    throw new Error(
      `this database is too old for this release: it lacks ${tooOld.join(', ')}. Migrate it first with the last release that has migrations/0019-swaps.ts, then with this one (docs/decisions/0054)`,
    )
  return missing
}

/** Replaces the old names by those of the files that make the same schema. The database has all old ones, or none. */
export async function renameFoldedMigrations(db: Knex): Promise<void> {
  await db.transaction(async (trx) => {
    const replaced = await trx('knex_migrations').whereIn('name', migrationsBefore).delete()
    if (replaced === 0) return
    const migration_time = new Date()
    await trx('knex_migrations').insert(foldedMigrations.map((name) => ({ name, batch: 1, migration_time })))
  })
}
