import { query } from '../platform/database/database.js'
import { createWalk, isPersonalDataSealed } from '../platform/database/walk-table.js'
import type { Services } from '../services.js'
import { adoptPayees } from './confirmation/payees.js'
import {
  openAccount,
  resolvedContext,
  type StoredAccount,
  sealAccount,
  sealName,
  storedAccountColumns,
} from './sealed-account.js'

/** Rows per run. */
const lotRows = 500

type Needs = Pick<Services, 'db' | 'transact' | 'config'>

interface WalkedWithdrawal extends StoredAccount {
  readonly id: string
  readonly userId: string
  readonly hasHash: boolean
  readonly plainResolved: string | null
}

/**
 * Seals the bank accounts that a release before has stored plain, and removes the plain ones, from an hour after the deploy on:
 * the release before reads them (`personal_data_sealed` of migrations/0016-privacy.ts). One lot per call.
 */
export function createAccountWalk(services: Needs): () => Promise<void> {
  return createWalk<string>((after = '00000000-0000-0000-0000-000000000000') => walkAccounts(services, after))
}

async function walkAccounts(services: Needs, after: string): Promise<string | undefined> {
  const { db } = services
  const rows = await query<WalkedWithdrawal>(db, {
    name: 'payouts.walk-accounts',
    text: /* sql */ `
      select w.id, w.user_id as "userId", w.reference, ${storedAccountColumns('w')}, w.account_hash is not null as "hasHash",
        w.resolved_name as "plainResolved"
      from withdrawals w where w.id > $1 order by w.id limit $2`,
    values: [after, lotRows],
  })
  // The walk stays where it is until the hour is over.
  if (!(await isPersonalDataSealed(db))) return after
  const plain = rows.filter((row) => row.plainNumber !== null || row.plainResolved !== null)
  // Payees are made of plain accounts.
  for (const userId of new Set(plain.filter(({ hasHash }) => !hasHash).map((row) => row.userId)))
    await adoptPayees(services, userId)
  if (plain.length > 0) await sealRows(services, plain)
  return rows.at(-1)?.id
}

async function sealRows({ db, config }: Needs, rows: readonly WalkedWithdrawal[]): Promise<void> {
  await query(db, {
    name: 'payouts.seal-accounts',
    text: /* sql */ `
      with locked as materialized (
        select w.id, s.account, s.resolved from withdrawals w
        join unnest($1::uuid[], $2::bytea[], $3::bytea[]) as s (id, account, resolved) using (id)
        order by w.id for no key update of w skip locked)
      update withdrawals w
         set sealed_account = coalesce(w.sealed_account, l.account),
             account_last_four = coalesce(w.account_last_four, right(w.account_number, 4)),
             account_number = null, account_name = null,
             sealed_resolved_name = coalesce(w.sealed_resolved_name, l.resolved), resolved_name = null
        from locked l where w.id = l.id`,
    values: [
      rows.map(({ id }) => id),
      rows.map((row) => sealAccount(config, row.reference, openAccount(config, row))),
      rows.map(({ reference, plainResolved }) =>
        plainResolved === null ? null : sealName(config, resolvedContext(reference), plainResolved),
      ),
    ],
  })
}
