import type { Knex } from 'knex'
import type { PublicKey } from '../../kernel/signing-key.js'
import { query, write } from '../../platform/database/database.js'
import type { ShortWallet } from './read-custody.js'

/** A signed report as everybody can read it. */
export interface SignedReport {
  readonly report: string
  readonly signature: string
  readonly keyId: string
}

export interface StoredReport extends SignedReport {
  readonly id: bigint
  readonly madeAt: Date
  /** For operators only. */
  readonly shortWallets: readonly ShortWallet[]
}

const columns = /* sql */ `
  id, made_at as "madeAt", report, signature, key_id as "keyId", short_wallets as "shortWallets"`

export async function findLastReport(db: Knex): Promise<StoredReport | undefined> {
  const [row] = await query<StoredReport>(db, {
    name: 'reports.last',
    text: `select ${columns} from reserve_reports order by id desc limit 1`,
    values: [],
  })
  return row
}

/** Whether today, in UTC, has its daily report. */
export async function hasDailyReport(db: Knex): Promise<boolean> {
  const rows = await query(db, {
    name: 'reports.of-today',
    text: `select id from reserve_reports where day = (clock_timestamp() at time zone 'UTC')::date`,
    values: [],
  })
  return rows.length > 0
}

/** Stores a report and its key. Undefined when another process has stored the report of the day meanwhile. */
export async function insertReport(
  trx: Knex.Transaction,
  { report, signature }: Pick<SignedReport, 'report' | 'signature'>,
  { keyId, publicKey }: PublicKey,
  { daily, shortWallets }: { readonly daily: boolean; readonly shortWallets: readonly ShortWallet[] },
): Promise<StoredReport | undefined> {
  await write(trx, {
    name: 'reports.insert-key',
    text: 'insert into report_keys (key_id, public_key) values ($1, $2) on conflict do nothing',
    values: [keyId, publicKey],
  })
  const [row] = await query<StoredReport>(trx, {
    name: 'reports.insert',
    text: /* sql */ `
      insert into reserve_reports (day, report, signature, key_id, short_wallets)
      values (case when $1 then (clock_timestamp() at time zone 'UTC')::date end, $2, $3, $4, $5)
      on conflict (day) do nothing returning ${columns}`,
    values: [daily, report, signature, keyId, JSON.stringify(shortWallets)],
  })
  return row
}

/** The keys of all reports, the newest first. */
export function listReportKeys(db: Knex): Promise<(PublicKey & { readonly since: Date })[]> {
  return query(db, {
    name: 'reports.keys',
    text: 'select key_id as "keyId", public_key as "publicKey", created_at as since from report_keys order by created_at desc, key_id',
    values: [],
  })
}
