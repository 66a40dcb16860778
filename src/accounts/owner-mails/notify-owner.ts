import { emailLayout } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { createLink } from '../links/account-link.js'
import { describeNotice, type OwnerNotice } from './notices.js'

/** An owner may read the mail days later. */
const notMeMinutes = 7 * 24 * 60

/** Where the mail goes. After a change of e-mail it also goes to the old address. */
interface Owner {
  readonly id: string
  readonly email: string
}

/**
 * Mails the owner what happened to the account, in the transaction in which it happens. A mail about what a thief could do
 * has a link that freezes the account.
 */
export async function notifyOwner(
  uow: UnitOfWork,
  publicUrl: string,
  { id, email }: Owner,
  notice: OwnerNotice,
): Promise<void> {
  const { subject, lines, security } = describeNotice(notice, new URL(publicUrl).host)
  const blocks = security ? [...lines, ...(await notMeBlocks(uow, publicUrl, id))] : lines
  await queueEmail(uow, { kind: notice.kind, to: email, ...emailLayout({ subject, blocks }) })
}

async function notMeBlocks({ trx }: UnitOfWork, publicUrl: string, userId: string) {
  const { token } = await createLink(trx, { userId, purpose: 'not_me', minutes: notMeMinutes })
  return [
    'This was not me? Open this page and press its button. It freezes the account: nothing can be withdrawn or changed until you have spoken to us, and everybody is signed out.',
    // Browsers do not send the fragment, so the token reaches no log.
    { link: `${publicUrl}/dashboard#not-me=${token}` },
  ]
}
