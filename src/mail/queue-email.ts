import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'

/** The content of an e-mail, in both forms. */
export interface MailContent {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** An e-mail to be sent to one address. */
export interface NewEmail extends MailContent {
  /** What it is for, such as `one-time-code`. */
  readonly kind: string
  readonly to: string
  /** After this it is not worth sending. */
  readonly expiresAt?: Date
}

/** Puts an e-mail into the transaction: it is sent if and only if that commits. The subject is kept, the rest is not. */
export async function queueEmail({ trx, wake }: UnitOfWork, email: NewEmail): Promise<void> {
  const { kind, to, subject, text, html, expiresAt = null } = email
  await query(trx, {
    name: 'emails.queue',
    text: /* sql */ `
      insert into emails (kind, recipient, subject, body_text, body_html, expires_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [kind, to, subject, text, html, expiresAt],
  })
  wake('mailer')
}

/** Gives up the e-mails of one kind to one address that are not sent yet: a newer one takes their place. */
export async function dropUnsent(
  { trx }: UnitOfWork,
  { kind, to }: { readonly kind: string; readonly to: string },
): Promise<void> {
  await query(trx, {
    name: 'emails.drop',
    text: /* sql */ `
      update emails set due_at = null, body_text = null, body_html = null, last_error = 'replaced'
       where recipient = $1 and kind = $2 and due_at is not null`,
    values: [to, kind],
  })
}
