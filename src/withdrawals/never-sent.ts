import { DomainError } from '../kernel/errors.js'
import type { Config } from '../platform/config/config.js'
import { query } from '../platform/database/database.js'
import { databaseIsKnown } from '../platform/database/restore-guard.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { Services } from '../services.js'

/**
 * Whether the provider may have what these rows have not sent, as SQL that names `withdrawals` as `alias`: it is older than an
 * accepted restore, or adopted (docs/decisions/0072).
 */
export function looksUp(alias: string): string {
  return `(${alias}.adopted_at is not null or coalesce(${alias}.created_at < (select restored_at from database_epoch), false))`
}

/** By the id of a withdrawal: whether the provider has it. No entry: it was not asked, or need not show it yet. */
export type Asked = ReadonlyMap<string, boolean>

/** Seconds since the last restore was accepted, as SQL. */
export const sinceRestore =
  '(select extract(epoch from clock_timestamp() - restored_at)::float8 from database_epoch)'

/** Whether what the provider does not show is not there. Until the settle time is over it need not show yet what was lost. */
export function provesAbsence(
  { sinceRestore }: { readonly sinceRestore: number | null },
  { settleSeconds }: Config['payouts'],
): boolean {
  return (sinceRestore ?? 0) >= settleSeconds
}

/**
 * Asks the provider about those of these withdrawals that it may have although they were never sent from here. Call it before
 * the transaction that may give their money back. What was adopted it has shown already. Throws ProviderError.
 */
export async function askIfOld(
  { db, config, payouts }: Pick<Services, 'db' | 'config' | 'payouts'>,
  ids: readonly string[],
): Promise<Asked> {
  const rows = await query<{
    id: string
    providerReference: string
    adopted: boolean
    sinceRestore: number | null
  }>(db, {
    name: 'unsent.old',
    text: /* sql */ `
      select w.id, w.provider_reference as "providerReference", w.adopted_at is not null as adopted,
        ${sinceRestore} as "sinceRestore"
      from withdrawals w where w.id = any($1::uuid[]) and ${looksUp('w')}`,
    values: [ids],
  })
  const asked = new Map<string, boolean>()
  for (const row of rows) {
    const has = row.adopted || (await payouts.findTransfer(row.providerReference)) !== undefined
    if (has || provesAbsence(row, config.payouts)) asked.set(row.id, has)
  }
  return asked
}

/**
 * Money goes back only when these rows can know that nothing was sent: never while the database waits after a restore, and for
 * what is older than one only if the provider does not have it. Call it under the withdrawal's lock. Throws `service_unavailable`.
 */
export async function requireUnsent(
  { trx }: Pick<UnitOfWork, 'trx'>,
  id: string,
  asked: Asked,
): Promise<void> {
  const [row] = await query<{ reference: string; known: boolean; old: boolean }>(trx, {
    name: 'unsent.require',
    text: `select w.reference, ${databaseIsKnown} as known, ${looksUp('w')} as old from withdrawals w where w.id = $1`,
    values: [id],
  })
  if (row?.known !== true)
    throw new DomainError(
      'service_unavailable',
      'the database was restored, so what was never sent from here may be paid. Run: npm run ops -- restore-check',
    )
  if (row.old && asked.get(id) !== false)
    throw new DomainError(
      'service_unavailable',
      `${row.reference} is older than a restore, and the provider has it, or need not show it yet: npm run ops -- payouts adopt ${row.reference}`,
    )
}
