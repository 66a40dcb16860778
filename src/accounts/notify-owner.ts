import type { Caller } from '../http/security/caller.js'
import { type EmailBlock, type EmailContent, type EmailFact, quoteInMail } from '../mail/layout.js'
import { queueEmail } from '../mail/queue-email.js'
import type { Config } from '../platform/config/config.js'
import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { type RecentChanges, readRecentChanges } from './protection.js'
import { type Confirmed, createConfirmationCode } from './secrets/codes.js'
import { createToken, linkUrl } from './secrets/secrets.js'

/** Of one kind to one address in an hour. */
const mostOfKind = 10
/** About the account in a day, to the address of an account that nobody has proven: its owner may never have heard of us. */
const mostUnproven = 20

export interface NoticeText {
  readonly subject: string
  /** What happened. */
  readonly lines: readonly string[]
  readonly facts?: readonly EmailFact[]
  /** What to do. */
  readonly advice: readonly string[]
  /** A thief could have done it: the mail has the link that freezes the account. */
  readonly security: boolean
}

export const nothingToDo = 'If this was you, you need not do anything.'

/** What the owner is told about the account itself: how one signs in, who may use it, freezing. All else is about money. */
const accountKinds = [
  'new-device',
  'email-proven',
  'password-changed',
  'email-change-requested',
  'email-changed',
  'factor-added',
  'factor-removed',
  'api-key-created',
  'site-added',
  'webhook-created',
  'webhook-moved',
  'account-frozen',
  'account-unfrozen',
] as const

/** What the owner of an account is told by mail. Its words are in the feature that sends it. */
export interface OwnerNotice<Kind extends string = string> {
  /** Also the kind of the e-mail's row. */
  readonly kind: Kind
  /**
   * Never with the account's name: whoever registers an address chooses it. What others have chosen, such as a label, is quoted and
   * cut. `trusted` false: to an address that nobody has proven, so without what the holder of the account has written.
   */
  readonly describe: (site: string, trusted: boolean) => NoticeText
}
export type AccountNotice = OwnerNotice<(typeof accountKinds)[number]>

/** A notice of what the owner has most likely done, and a thief may have. */
export function warning(
  kind: AccountNotice['kind'],
  words: (site: string, trusted: boolean) => Pick<NoticeText, 'subject' | 'lines' | 'facts'>,
): AccountNotice {
  return {
    kind,
    describe: (site, trusted) => ({ ...words(site, trusted), advice: [nothingToDo], security: true }),
  }
}

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
  await notifyKnown(uow, publicUrl, await readOwner(uow, userId), notice, origin)
}

/** Whom a notice is mailed to. */
export type Owner = { readonly userId: string } & Omit<RecentChanges, 'changed'>

async function readOwner({ trx }: UnitOfWork, userId: string): Promise<Owner> {
  return { userId, ...(await readRecentChanges(trx, userId)) }
}

/** As `notifyOwner`, for the caller who has read who the owner is. */
export async function notifyKnown(
  uow: UnitOfWork,
  publicUrl: string,
  owner: Owner,
  notice: OwnerNotice,
  origin?: Origin,
): Promise<void> {
  for (const address of new Set([owner.email, owner.moneyEmail]))
    await mailNotice(uow, publicUrl, owner, address, notice, origin)
}

/** As `notifyOwner`, to one address. */
export async function notifyAddress(
  uow: UnitOfWork,
  publicUrl: string,
  { userId, address }: { readonly userId: string; readonly address: string },
  notice: OwnerNotice,
): Promise<void> {
  await mailNotice(uow, publicUrl, await readOwner(uow, userId), address, notice)
}

async function mailNotice(
  uow: UnitOfWork,
  publicUrl: string,
  { userId, at, email, proven }: Owner,
  address: string,
  notice: OwnerNotice,
  origin?: Origin,
): Promise<void> {
  const isBounded = accountKinds.some((kind) => kind === notice.kind)
  const { ofKind, ofAll } = isBounded ? await countMailed(uow, address, notice.kind) : { ofKind: 0, ofAll: 0 }
  if (ofKind >= mostOfKind || (!proven && ofAll >= mostUnproven)) return
  // An address that was given up may never have been proven either.
  const trusted = proven && address === email
  const text = notice.describe(new URL(publicUrl).host, trusted)
  const link = text.security ? await createNotMeLink(uow, publicUrl, userId) : undefined
  const isLast = isBounded && ofKind === mostOfKind - 1
  const from = trusted || origin === undefined ? origin : { network: origin.network }
  const blocks = noticeBlocks(text, { at, origin: from, link, isLast })
  await queueEmail(uow, { kind: notice.kind, to: address, subject: text.subject, blocks })
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
  /** Mails of this kind to the address in the last hour, and notices about accounts in the last day. */
  readonly ofKind: number
  readonly ofAll: number
}

async function countMailed({ trx }: UnitOfWork, address: string, kind: string): Promise<Mailed> {
  const [row] = await query<Mailed>(trx, {
    name: 'notices.mailed',
    text: /* sql */ `
      select
        (select count(*) from emails
          where recipient = $1 and kind = $2 and created_at > clock_timestamp() - interval '1 hour')::int as "ofKind",
        (select count(*) from emails
          where recipient = $1 and kind = any($3::text[]) and created_at > clock_timestamp() - interval '1 day')::int as "ofAll"`,
    values: [address, kind, accountKinds],
  })
  if (row === undefined) throw new Error('The mails were not counted')
  return row
}

/**
 * Mails a code that confirms something, which replaces the one before for the same subject. It goes to the address that codes for
 * money go to, with the page that freezes the account. False: the account has had too many in the last 24 hours. The caller makes
 * sure that one account's codes are made one after the other.
 */
export async function mailConfirmationCode(
  uow: UnitOfWork,
  settings: Pick<Config, 'http' | 'otpPeppers'>,
  confirmed: Confirmed,
  kind: string,
  mailOf: (code: string) => EmailContent,
): Promise<boolean> {
  const made = await createConfirmationCode(uow, settings, confirmed)
  if (made === undefined) return false
  const { moneyEmail } = await readRecentChanges(uow.trx, confirmed.userId)
  const { subject, blocks } = mailOf(made.code)
  const notMe = await createNotMeLink(uow, settings.http.publicUrl, confirmed.userId)
  await queueEmail(uow, {
    kind,
    to: moneyEmail,
    expiresAt: made.expiresAt,
    subject,
    blocks: [...blocks, ...notMeBlocks(notMe)],
  })
  return true
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

const browsers: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /\bEdgA?(iOS)?\//],
  ['Opera', /\b(OPR|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
]
const systems: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['Mac', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
]

/** A browser as its owner knows it: `Chrome on Android`. One that is not known is quoted. */
export function describeBrowser(userAgent: string | null): string {
  if (userAgent === null) return 'unknown'
  const nameIn = (known: typeof browsers) => known.find(([, mark]) => mark.test(userAgent))?.[0]
  const browser = nameIn(browsers)
  if (browser === undefined) return quoteInMail(userAgent)
  const system = nameIn(systems)
  return system === undefined ? browser : `${browser} on ${system}`
}

/** An address, or the first half of one of IPv6 as it is written: `2001:db8:0:0::/64`. */
function describeNetwork(network: string): string {
  return network.includes(':') ? `${network}::/64` : network
}

const moment = { day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const
const utc = new Intl.DateTimeFormat('en-GB', { ...moment, timeZone: 'UTC' })
const lagos = new Intl.DateTimeFormat('en-GB', { ...moment, timeZone: 'Africa/Lagos' })

/** A time for people: in UTC, and where most creators live. */
export function describeMoment(at: Date): string {
  return `${utc.format(at)} UTC (${lagos.format(at)} in Lagos)`
}
