import { queueEmail } from '../../mail/queue-email.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { User } from '../models.js'
import { createToken, linkUrl, purposes } from '../secrets/secrets.js'

/** Mails the owner a link for a new password. Earlier links stay good: the mail with the newest may be the last to arrive. */
export async function mailResetLink(
  uow: UnitOfWork,
  publicUrl: string,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<void> {
  const { token, expiresAt } = await createToken(uow.trx, 'password_reset', { userId: id })
  await queueEmail(uow, {
    kind: 'password-reset',
    to: email,
    expiresAt,
    subject: `A new password for ${new URL(publicUrl).host}`,
    blocks: [
      'To set a new password, open this link:',
      { link: linkUrl(publicUrl, 'reset-password', token) },
      `It is valid for ${purposes.password_reset.minutes} minutes and works once. Never give it to anybody: we never ask for it.`,
      'If it was not you, ignore this e-mail.',
    ],
  })
}
