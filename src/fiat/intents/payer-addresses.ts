import type { Knex } from 'knex'
import { addressHash, addressPurpose } from '../../mail/sealed-address.js'
import { query } from '../../platform/database/database.js'
import { type SealedColumn, sealedBatchSize } from '../../platform/database/sealed-column.js'
import type { Services } from '../../services.js'

const mostErased = 1000

type Needs = Pick<Services, 'db' | 'config' | 'log'>

export const sealedPayers: SealedColumn = {
  table: 'payers',
  column: 'email_sealed',
  id: 'id',
  idType: 'bigint',
  purpose: addressPurpose,
  context: "''",
  batchSize: sealedBatchSize,
}

/** Erases the addresses whose last tip is long ago, so many per call. Without the setting none. */
export async function eraseOldPayers({ db, config, log }: Needs): Promise<void> {
  const { payerEmailsDays: days } = config.retention
  if (days === undefined) return
  const erased = await query(db, {
    name: 'fiat.erase-payers',
    text: /* sql */ `
      update payers set email_hash = null, email_sealed = null
      where id in (
        select id from payers where email_sealed is not null and last_tip_at < now() - $1::float8 * interval '1 day'
        order by last_tip_at limit ${mostErased} for update skip locked)
      returning 1`,
    values: [days],
  })
  if (erased.length > 0) log.info({ payers: erased.length }, 'erased old addresses of payers')
}

/** Erases the address of whoever asks for it. Their tips stay. Returns the number of rows. */
export async function erasePayer(
  trx: Knex.Transaction,
  { config }: Pick<Services, 'config'>,
  email: string,
): Promise<number> {
  const erased = await query(trx, {
    name: 'fiat.erase-payer',
    text: /* sql */ `
      update payers set email_hash = null, email_sealed = null where email_hash = $1 returning 1`,
    values: [addressHash(config.dataKeys, email)],
  })
  return erased.length
}

/** The number of rows that `erasePayer` would erase. */
export async function countPayers(
  { db, config }: Pick<Services, 'db' | 'config'>,
  email: string,
): Promise<number> {
  const [row] = await query<{ count: number }>(db, {
    name: 'fiat.count-payers',
    text: 'select count(*)::int as count from payers where email_hash = $1',
    values: [addressHash(config.dataKeys, email)],
  })
  return row?.count ?? 0
}
