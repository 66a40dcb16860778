import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { Knex } from 'knex'
import { cleanLine } from '../../kernel/text.js'
import { query } from '../../platform/database/database.js'
import type { FiatIntentInput } from '../schemas.js'

/** Who pays, as far as the service keeps it. */
export interface Payer {
  readonly name: string
  /** What the provider is told: the payer's own address, or one made up for this payment. */
  readonly email: string
  /** Where the receipt goes; undefined: there is none. */
  readonly receiptTo: string | undefined
}

const anonymousName = 'Anonymous'
const nameLength = 100
/** Reserved for such uses (RFC 2606): mail to it reaches nobody. */
const nobodysDomain = 'example.com'

/**
 * What is kept of a payer. Of one who wants to stay unknown neither name nor e-mail goes any further than here: not
 * into the database, not to the provider. `publicUrl`: whose host the made-up addresses are of.
 */
export function payerFrom(
  { senderName, payerEmail, isAnonymous }: Pick<FiatIntentInput, 'senderName' | 'payerEmail' | 'isAnonymous'>,
  publicUrl: string,
): Payer {
  const receiptTo = isAnonymous ? undefined : payerEmail
  const name = isAnonymous ? '' : cleanLine(senderName ?? '', nameLength)
  return { name: name || anonymousName, email: receiptTo ?? guestEmail(publicUrl), receiptTo }
}

/** The provider wants a real top-level domain; where we have none, the address is of nobody's. */
function guestEmail(publicUrl: string): string {
  const { hostname } = new URL(publicUrl)
  const isPublic = hostname.includes('.') && isIP(hostname) === 0 && !hostname.startsWith('[')
  return `guest-${randomBytes(12).toString('hex')}@${isPublic ? hostname : nobodysDomain}`
}

/**
 * The record of somebody who gave an e-mail, made where missing; never an account. Two autocommit statements, as for
 * parties: nobody waits for a row that exists.
 */
export async function internPayer(db: Knex, email: string): Promise<bigint | undefined> {
  await query(db, {
    name: 'payers.insert',
    text: 'insert into payers (email) values ($1) on conflict do nothing',
    values: [email],
  })
  const [row] = await query<{ id: bigint }>(db, {
    name: 'payers.read',
    text: 'select id from payers where email = $1',
    values: [email],
  })
  return row?.id
}
