import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { Knex } from 'knex'
import { cleanName } from '../../kernel/text.js'
import { addressHash, addressPurpose, sealAddress } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import { type SealedColumn, sealedBatchSize } from '../../platform/database/sealed-column.js'
import type { Services } from '../../services.js'
import { withheldName } from '../../tips/read/present.js'
import type { FiatIntentInput } from '../schemas.js'

/** What the service keeps about a payer. */
export interface PayerDetails {
  readonly name: string
  /** The address for the provider: the payer's own if it takes such addresses, or one generated for this payment. */
  readonly email: string
  /** The address for the receipt. Undefined: no receipt. */
  readonly receiptTo: string | undefined
}

/** Addresses of this form every provider takes. Many refuse other valid ones: `&`, `#` or `/` before the @, `.xn--…` at the end. */
const providerForm = /^[a-z0-9_'+.-]*[a-z0-9_+-]@([a-z0-9-]+\.)+[a-z]{2,}$/
/** Reserved by RFC 2606: mail to it reaches no one. */
const reservedDomain = 'example.com'

/**
 * What the service keeps about a payer. The name and e-mail of an anonymous payer stop here: they reach neither the database
 * nor the provider. `publicUrl`: generated addresses have its host.
 */
export function payerFrom(
  { senderName, payerEmail, isAnonymous }: Pick<FiatIntentInput, 'senderName' | 'payerEmail' | 'isAnonymous'>,
  publicUrl: string,
): PayerDetails {
  const receiptTo = isAnonymous ? undefined : payerEmail
  const name = isAnonymous ? null : cleanName(senderName)
  const email = receiptTo !== undefined && providerForm.test(receiptTo) ? receiptTo : guestEmail(publicUrl)
  return { name: name ?? withheldName, email, receiptTo }
}

/** The provider requires a public domain. Without one of our own the address uses the reserved domain. */
function guestEmail(publicUrl: string): string {
  const { hostname } = new URL(publicUrl)
  const isPublic = hostname.includes('.') && isIP(hostname) === 0 && !hostname.startsWith('[')
  return `guest-${randomBytes(12).toString('hex')}@${isPublic ? hostname : reservedDomain}`
}

/**
 * The id of the payer with this e-mail; creates the row if it is missing. A payer is never an account. Two first tips at the
 * same time make two rows, which is harmless: a row only says where a receipt goes.
 */
export async function findOrCreatePayer(
  { db, config }: Pick<Services, 'db' | 'config'>,
  email: string,
): Promise<bigint | undefined> {
  const [payer] = await query<{ id: bigint }>(db, {
    name: 'fiat.payer',
    text: /* sql */ `
      with found as (
        update payers set last_tip_at = clock_timestamp()
         where id = (select id from payers where email_hash = $1 limit 1) returning id),
      created as (
        insert into payers (email_hash, email_sealed) select $1, $2 where not exists (select from found) returning id)
      select id from found union all select id from created`,
    values: [addressHash(config.dataKeys, email), sealAddress(config.dataKeys, email)],
  })
  return payer?.id
}

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
