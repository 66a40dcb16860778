import type { Caller } from '../../http/security/caller.js'
import { type EmailBlock, emailLayout } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { createLink } from '../links/account-link.js'
import { readRecentChanges } from '../recent-changes.js'
import { describeNotice, type NoticeText, type OwnerNotice } from './notices.js'
import { describeBrowser, describeMoment, describeNetwork } from './quote.js'

/** An owner may read the mail days later. */
const notMeMinutes = 7 * 24 * 60

/** From where something was done. */
export type Origin = Pick<Caller, 'network' | 'userAgent'>

/**
 * Mails the owner what happened to the account, in the transaction in which it happens, to each address that is the owner's:
 * after a change of e-mail also to the one that can be restored. A mail about what a thief could do has a link that freezes the
 * account. `origin`: absent where nobody sent a request, as when a bank pays.
 */
export async function notifyOwner(
  uow: UnitOfWork,
  publicUrl: string,
  userId: string,
  notice: OwnerNotice,
  origin?: Origin,
): Promise<void> {
  const { email, moneyEmail } = await readRecentChanges(uow.trx, userId)
  for (const address of new Set([email, moneyEmail]))
    await notifyAddress(uow, publicUrl, { userId, address }, notice, origin)
}

/** As `notifyOwner`, to one address. */
export async function notifyAddress(
  uow: UnitOfWork,
  publicUrl: string,
  { userId, address }: { readonly userId: string; readonly address: string },
  notice: OwnerNotice,
  origin: Origin | undefined = notice.kind === 'new-device' ? notice : undefined,
): Promise<void> {
  const text = describeNotice(notice, new URL(publicUrl).host)
  const at = await readTime(uow)
  const link = text.security ? await createNotMeLink(uow, publicUrl, userId) : undefined
  const blocks = noticeBlocks(text, { at, origin, link })
  await queueEmail(uow, { kind: notice.kind, to: address, ...emailLayout({ subject: text.subject, blocks }) })
}

interface Occasion {
  readonly at: Date
  readonly origin: Origin | undefined
  /** The page that freezes the account. */
  readonly link: string | undefined
}

/** What happened, when, from where, and what to do. */
export function noticeBlocks(
  { lines, facts = [], advice }: NoticeText,
  { at, origin, link }: Occasion,
): EmailBlock[] {
  const from = origin && [
    ['Browser', describeBrowser(origin.userAgent)] as const,
    ['Network', describeNetwork(origin.network)] as const,
  ]
  return [
    ...lines,
    { facts: [...facts, ['When', describeMoment(at)], ...(from ?? [])] },
    ...advice,
    ...(link === undefined ? [] : notMeBlocks(link)),
  ]
}

/** The way out for an owner who did not do it. */
export function notMeBlocks(link: string): EmailBlock[] {
  return [
    'If this was not you, open this page and press its button. It freezes the account at once: everybody is signed out, and nothing can be withdrawn or changed until you have talked to us. Tips still arrive.',
    { link, label: 'This was not me' },
  ]
}

async function readTime({ trx }: UnitOfWork): Promise<Date> {
  const [row] = await query<{ at: Date }>(trx, {
    name: 'notices.time',
    text: 'select clock_timestamp() as at',
    values: [],
  })
  if (row === undefined) throw new Error('The database did not say the time')
  return row.at
}

/** A link to the page that freezes the account. */
export async function createNotMeLink(
  { trx }: UnitOfWork,
  publicUrl: string,
  userId: string,
): Promise<string> {
  const { token } = await createLink(trx, { userId, purpose: 'not_me', minutes: notMeMinutes })
  // Browsers do not send the fragment, so the token reaches no log.
  return `${publicUrl}/dashboard#not-me=${token}`
}
