import type { Caller } from '../../http/security/caller.js'
import { type EmailBlock, emailLayout } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { linkUrl } from '../links/account-link.js'
import { readRecentChanges } from '../recent-changes.js'
import { createToken } from '../secrets/secrets.js'
import {
  type AccountNotice,
  accountNoticeKinds,
  describeAccountNotice,
  withoutWords,
} from './account-notices.js'
import type { MoneyNotice, NoticeText } from './notice-text.js'
import { describeBrowser, describeMoment, describeNetwork } from './quote.js'

/** Of one kind to one address in an hour. */
const mostOfKind = 10
/** About the account in a day, to the address of an account that nobody has proven: its owner may never have heard of us. */
const mostUnproven = 20

/** What the owner of an account is told by mail. */
export type OwnerNotice = AccountNotice | MoneyNotice

/** From where something was done. */
export type Origin = Pick<Caller, 'network' | 'userAgent'>

/**
 * Mails the owner what happened to the account, in the transaction in which it happens, to each address that is the owner's:
 * after a change of e-mail also to the one that can be restored. A mail about what a thief could do has a link that freezes the
 * account. `origin`: absent where nobody sent a request, as when a bank pays. About the account itself it mails at most a number per
 * address and kind, so that nobody can flood a mailbox; about money always, so that a thief cannot bury it under other mails.
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
  origin?: Origin,
): Promise<void> {
  const { at, email, proven, ofKind, ofAll } = await readMailed(uow, userId, address, notice.kind)
  const isBounded = !isAboutMoney(notice)
  if (isBounded && (ofKind >= mostOfKind || (!proven && ofAll >= mostUnproven))) return
  // An address that was given up may never have been proven either.
  const trusted = proven && address === email
  const text = wordsOf(notice, new URL(publicUrl).host, trusted)
  const link = text.security ? await createNotMeLink(uow, publicUrl, userId) : undefined
  const isLast = isBounded && ofKind === mostOfKind - 1
  const from = trusted || origin === undefined ? origin : { network: origin.network }
  const blocks = noticeBlocks(text, { at, origin: from, link, isLast })
  await queueEmail(uow, { kind: notice.kind, to: address, ...emailLayout({ subject: text.subject, blocks }) })
}

const isAboutMoney = (notice: OwnerNotice): notice is MoneyNotice => 'describe' in notice

function wordsOf(notice: OwnerNotice, site: string, trusted: boolean): NoticeText {
  if (isAboutMoney(notice)) return notice.describe(site)
  return describeAccountNotice(trusted ? notice : withoutWords(notice), site)
}

interface Occasion {
  readonly at: Date
  /** Without a browser, it is not named: anybody writes into that field what they like. */
  readonly origin: (Partial<Origin> & Pick<Origin, 'network'>) | undefined
  /** The page that freezes the account. */
  readonly link: string | undefined
  /** The next ones of its kind are not mailed for a while. */
  readonly isLast: boolean
}

/** What happened, when, from where, and what to do. */
export function noticeBlocks(
  { lines, facts = [], advice }: NoticeText,
  { at, origin, link, isLast }: Occasion,
): EmailBlock[] {
  const from = origin && [
    ...(origin.userAgent === undefined ? [] : [['Browser', describeBrowser(origin.userAgent)] as const]),
    ['Network', describeNetwork(origin.network)] as const,
  ]
  return [
    ...lines,
    { facts: [...facts, ['When', describeMoment(at)], ...(from ?? [])] },
    ...advice,
    ...(isLast
      ? [`We have mailed ${mostOfKind} of this kind in an hour, and send no more of them for a while.`]
      : []),
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

interface Mailed {
  readonly at: Date
  /** The current e-mail of the account. */
  readonly email: string
  readonly proven: boolean
  /** Mails of this kind to the address in the last hour, and notices about accounts in the last day. */
  readonly ofKind: number
  readonly ofAll: number
}

async function readMailed(
  { trx }: UnitOfWork,
  userId: string,
  address: string,
  kind: string,
): Promise<Mailed> {
  const [row] = await query<Mailed>(trx, {
    name: 'notices.mailed',
    text: /* sql */ `
      select clock_timestamp() as at, email, email_verified_at is not null as proven,
        (select count(*) from emails
          where recipient = $2 and kind = $3 and created_at > clock_timestamp() - interval '1 hour')::int as "ofKind",
        (select count(*) from emails
          where recipient = $2 and kind = any($4::text[]) and created_at > clock_timestamp() - interval '1 day')::int as "ofAll"
      from users where id = $1`,
    values: [userId, address, kind, accountNoticeKinds],
  })
  if (row === undefined) throw new Error(`There is no user ${userId}`)
  return row
}

/** A link to the page that freezes the account. */
export async function createNotMeLink(
  { trx }: UnitOfWork,
  publicUrl: string,
  userId: string,
): Promise<string> {
  const { token } = await createToken(trx, 'not_me', { userId })
  return linkUrl(publicUrl, 'not-me', token)
}
