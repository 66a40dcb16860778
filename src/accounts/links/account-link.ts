import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import { query } from '../../platform/database/database.js'

export type LinkPurpose = 'password_reset' | 'email_change' | 'email_undo' | 'not_me'

/** What the dashboard opens for a link. */
type LinkPage =
  | 'sign-in'
  | 'reset-password'
  | 'confirm-email'
  | 'undo-email'
  | 'not-me'
  | 'export'
  | 'confirm-withdrawal'

interface NewLink {
  readonly userId: string
  readonly purpose: LinkPurpose
  readonly minutes: number
  /** The new address of a change of e-mail, the old one of its undo. */
  readonly email?: string
}

export interface CreatedLink {
  readonly token: string
  readonly expiresAt: Date
}

/**
 * The address of a mailed link. Browsers do not send the fragment, so the token reaches no log. The page there acts when its
 * button is pressed.
 */
export function linkUrl(publicUrl: string, page: LinkPage, token: string): string {
  return `${publicUrl}/dashboard#${page}=${token}`
}

/** Creates a link to be mailed. It is good once. The database stores the hash of its token. */
export async function createLink(
  trx: Knex.Transaction,
  { userId, purpose, minutes, email }: NewLink,
): Promise<CreatedLink> {
  const token = newSecret()
  const [link] = await query<{ expiresAt: Date }>(trx, {
    name: 'links.create',
    text: /* sql */ `
      insert into account_links (token_hash, user_id, purpose, email, expires_at)
      values ($1, $2, $3, $4, clock_timestamp() + $5::int * interval '1 minute') returning expires_at as "expiresAt"`,
    values: [hashSecret(token), userId, purpose, email ?? null, minutes],
  })
  if (link === undefined) throw new Error('The link was not written')
  return { token, expiresAt: link.expiresAt }
}

export interface UsedLink {
  readonly userId: string
  readonly email: string | null
}

/** Finds a link that can be used, without using it. Throws `invalid_link` as `useLink` does. */
export async function findLink(db: Knex, purpose: LinkPurpose, token: string): Promise<UsedLink> {
  const [link] = await query<UsedLink>(db, {
    name: 'links.find',
    text: /* sql */ `
      select user_id as "userId", email from account_links
       where token_hash = $1 and purpose = $2 and used_at is null and expires_at > clock_timestamp()`,
    values: [hashSecret(token), purpose],
  })
  if (link === undefined) throw new DomainError('invalid_link')
  return link
}

/** Uses a link. Throws `invalid_link` for one that is used, too old, unknown or made for another purpose. */
export async function useLink(trx: Knex.Transaction, purpose: LinkPurpose, token: string): Promise<UsedLink> {
  const [link] = await query<UsedLink>(trx, {
    name: 'links.use',
    text: /* sql */ `
      update account_links set used_at = clock_timestamp()
       where token_hash = $1 and purpose = $2 and used_at is null and expires_at > clock_timestamp()
      returning user_id as "userId", email`,
    values: [hashSecret(token), purpose],
  })
  if (link === undefined) throw new DomainError('invalid_link')
  return link
}

/** Voids the unused links of some purposes that were made at `since` or later: all, if it is not given. */
export async function voidLinks(
  trx: Knex.Transaction,
  userId: string,
  purposes: readonly LinkPurpose[],
  since?: Date,
): Promise<void> {
  await query(trx, {
    name: 'links.void',
    text: /* sql */ `
      update account_links set used_at = clock_timestamp()
       where user_id = $1 and purpose = any($2::text[]) and used_at is null
         and created_at >= coalesce($3::timestamptz, '-infinity')`,
    values: [userId, purposes, since ?? null],
  })
}
