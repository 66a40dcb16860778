import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { findSecret, type GoodSecret, type Purpose, useSecret } from '../secrets/secrets.js'

/** What the dashboard opens for a link. */
type LinkPage =
  | 'sign-in'
  | 'reset-password'
  | 'confirm-email'
  | 'undo-email'
  | 'not-me'
  | 'export'
  | 'confirm-withdrawal'

/**
 * The address of a mailed link. Browsers do not send the fragment, so the token reaches no log. The page there acts when its
 * button is pressed.
 */
export function linkUrl(publicUrl: string, page: LinkPage, token: string): string {
  return `${publicUrl}/dashboard#${page}=${token}`
}

interface Link {
  readonly userId: string
  /** The new address of a change of e-mail, the old one of its undo. */
  readonly email: string | null
}

/** Finds a link that can be used, without using it. Throws `invalid_link` as `useLink` does. */
export async function findLink(db: Knex, purpose: Purpose, token: string): Promise<Link> {
  return linkOf(await findSecret(db, purpose, token))
}

/** Uses a link. Throws `invalid_link` for one that is used, too old, unknown or made for another purpose. */
export async function useLink(trx: Knex.Transaction, purpose: Purpose, token: string): Promise<Link> {
  return linkOf(await useSecret(trx, purpose, token))
}

function linkOf(secret: GoodSecret | undefined): Link {
  if (secret === undefined || secret.userId === null) throw new DomainError('invalid_link')
  return { userId: secret.userId, email: secret.content }
}
