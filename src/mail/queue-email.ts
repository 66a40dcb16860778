import type { Knex } from 'knex'
import { createSealer, type DataKeys, keyedHash } from '../kernel/personal-data.js'
import { query, write } from '../platform/database/database.js'
import { type SealedColumn, sealedBatchSize } from '../platform/database/sealed-column.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { Services } from '../services.js'
import { cleanSubject, type EmailContent } from './layout.js'

/** An e-mail to one address. */
export interface NewEmail extends EmailContent {
  /** The purpose, such as `one-time-code`. */
  readonly kind: string
  /** Sealed: of somebody without an account. */
  readonly to: string | SealedAddress
  /** The e-mail is not sent after this time. */
  readonly expiresAt?: Date
  /** Turns such e-mails off when it is posted to. */
  readonly unsubscribeUrl?: string
}

/**
 * Queues an e-mail in the caller's transaction: it is sent if and only if that commits. It is rendered when it is sent.
 * The body is deleted when the work on the e-mail ends; the subject is kept.
 */
export async function queueEmail({ trx, wake }: UnitOfWork, email: NewEmail): Promise<void> {
  const { kind, to, subject, language, blocks, expiresAt = null, unsubscribeUrl = null } = email
  await write(trx, {
    name: 'emails.queue',
    text: /* sql */ `
      insert into emails (kind, recipient, sealed_recipient, subject, body, expires_at, unsubscribe_url)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      kind,
      ...(typeof to === 'string' ? [to, null] : [null, to.sealed]),
      cleanSubject(subject),
      JSON.stringify({ language, blocks }),
      expiresAt,
      unsubscribeUrl,
    ],
  })
  wake('mailer')
}

/** Drops the unsent e-mails of one kind to one address. A newer e-mail replaces them. */
export async function dropUnsentEmails(
  { trx }: UnitOfWork,
  { kind, to }: { readonly kind: string; readonly to: string },
): Promise<void> {
  await write(trx, {
    name: 'emails.drop',
    text: /* sql */ `
      update emails set due_at = null, body = null, unsubscribe_url = null, last_error = 'replaced'
       where recipient = $1 and kind = $2 and due_at is not null`,
    values: [to, kind],
  })
}

/** Rows of one run. The bound keeps a run after a long pause as short as any other. */
const mostDeleted = 5000
/** Until then they answer people who ask about a missing one (docs/privacy.md). */
const keptDays = 30

/** Deletes old e-mails that are finished. */
export async function deleteFinishedEmails({ db, log }: Pick<Services, 'db' | 'log'>): Promise<void> {
  const deleted = await query(db, {
    name: 'emails.delete-finished',
    text: /* sql */ `
      delete from emails where id in (
        select id from emails where due_at is null and created_at < now() - $2::int * interval '1 day'
         limit $1 for update skip locked)
      returning 1`,
    values: [mostDeleted, keptDays],
  })
  if (deleted.length > 0) log.info({ rows: deleted.length }, 'deleted finished e-mails')
}

/** Deletes what was mailed to an address, and what is not sent yet. */
export async function forgetEmails(trx: Knex.Transaction, address: string): Promise<void> {
  await query(trx, {
    name: 'emails.forget',
    text: 'delete from emails where recipient = $1',
    values: [address],
  })
}

/** The e-mail address of somebody without an account, as it is stored. */
export interface SealedAddress {
  readonly sealed: Buffer
}

export const addressPurpose = 'mail-address/1'
/** An address stands in several rows: of the payer, and of each e-mail to them. */
const anywhere = ''

/** The addresses of e-mails to people without an account. */
export const sealedRecipients: SealedColumn = {
  table: 'emails',
  column: 'sealed_recipient',
  id: 'id',
  idType: 'uuid',
  purpose: addressPurpose,
  context: "''",
  batchSize: sealedBatchSize,
}

export function sealAddress(dataKeys: DataKeys, address: string): Buffer {
  return createSealer(dataKeys, addressPurpose).seal(address, anywhere)
}

/** Throws SealBroken. */
export function openAddress(dataKeys: DataKeys, sealed: Uint8Array): string {
  return createSealer(dataKeys, addressPurpose).open(sealed, anywhere).toString()
}

/** Equal for the same address in its stored form (`parseEmailAddress`), and only then. */
export function addressHash(dataKeys: DataKeys, address: string): Buffer {
  return keyedHash(dataKeys, 'mail-address-hash/1', address)
}
