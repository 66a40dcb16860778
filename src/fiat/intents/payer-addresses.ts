import type { Knex } from 'knex'
import { addressHash, addressPurpose, sealAddress } from '../../mail/sealed-address.js'
import { query } from '../../platform/database/database.js'
import { type SealedColumn, sealedBatchSize } from '../../platform/database/sealed-column.js'
import { createWalk, isPersonalDataSealed } from '../../platform/database/walk-table.js'
import type { Services } from '../../services.js'

/** Rows per run. */
const lotRows = 1000

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

/**
 * Seals the addresses that a release before has stored plain, and erases those that are kept long enough, from an hour after the
 * deploy on: the release before reads them. One lot per call.
 */
export function createPayerWalk(services: Needs): () => Promise<void> {
  return createWalk<bigint>((after = 0n) => walkPayers(services, after))
}

interface WalkedPayer {
  readonly id: bigint
  /** Null: sealed or erased. */
  readonly email: string | null
  readonly old: boolean
}

async function walkPayers(services: Needs, after: bigint): Promise<bigint | undefined> {
  const { db, config, log } = services
  if (!(await isPersonalDataSealed(db))) return after
  const days = config.retention.payerEmailsDays ?? null
  const payers = await query<WalkedPayer>(db, {
    name: 'fiat.walk-payers',
    text: /* sql */ `
      select id, email, num_nonnulls(email, email_sealed) > 0
          and coalesce(coalesce(last_tip_at, created_at) < now() - $3::float8 * interval '1 day', false) as old
      from payers where id > $1 order by id limit $2`,
    values: [after, lotRows, days],
  })
  const erased = await eraseOld(
    db,
    payers.filter(({ old }) => old).map(({ id }) => id),
    days,
  )
  if (erased > 0) log.info({ payers: erased }, 'erased old addresses of payers')
  await sealPlain(services, payers)
  return payers.at(-1)?.id
}

async function eraseOld(db: Knex, ids: readonly bigint[], days: number | null): Promise<number> {
  if (ids.length === 0) return 0
  const erased = await query(db, {
    name: 'fiat.erase-payers',
    text: /* sql */ `
      update payers set email = null, email_hash = null, email_sealed = null
      where id in (
        select id from payers where id = any($1::bigint[])
          and coalesce(last_tip_at, created_at) < now() - $2::float8 * interval '1 day' for update skip locked)
      returning 1`,
    values: [ids, days],
  })
  return erased.length
}

async function sealPlain({ db, config }: Needs, payers: readonly WalkedPayer[]): Promise<void> {
  const plain = payers.flatMap(({ id, email }) => (email === null ? [] : [{ id, email }]))
  if (plain.length === 0) return
  await query(db, {
    name: 'fiat.seal-payers',
    text: /* sql */ `
      update payers p set email = null, email_hash = s.hash, email_sealed = s.sealed
      from unnest($1::bigint[], $2::text[], $3::bytea[], $4::bytea[]) as s (id, email, hash, sealed)
      where p.id = s.id and p.email = s.email`,
    values: [
      plain.map(({ id }) => id),
      plain.map(({ email }) => email),
      plain.map(({ email }) => addressHash(config.dataKeys, email)),
      plain.map(({ email }) => sealAddress(config.dataKeys, email)),
    ],
  })
}

/** Removes the addresses for the provider that a release before has stored with each intent. One lot per call. */
export function createPaymentAddressWalk({ db }: Pick<Services, 'db'>): () => Promise<void> {
  return createWalk<string>(async (after = '') => {
    const [lot] = await query<{ last: string | null }>(db, {
      name: 'fiat.walk-intents',
      text: /* sql */ `
        with lot as materialized (select id from fiat_intents where id > $1 order by id limit $2),
        cleared as (
          update fiat_intents set payer_email = null where id in (
            select f.id from fiat_intents f join lot using (id)
            where f.payer_email is not null for no key update of f skip locked))
        select max(id) as last from lot`,
      values: [after, lotRows],
    })
    return lot?.last ?? undefined
  })
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
      update payers set email = null, email_hash = null, email_sealed = null
      where email_hash = $1 or email = $2 returning 1`,
    values: [addressHash(config.dataKeys, email), email],
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
    text: 'select count(*)::int as count from payers where email_hash = $1 or email = $2',
    values: [addressHash(config.dataKeys, email), email],
  })
  return row?.count ?? 0
}
