import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/** What protects an account, for its owner's settings. */
interface Security {
  readonly emailVerified: boolean
  readonly hasPassword: boolean
  readonly totp: boolean
  readonly recoveryCodesLeft: number
  readonly passkeys: number
  readonly frozenAt: Date | null
  readonly tipMails: 'off' | 'each' | 'daily'
  /** A new address whose link has not been used yet. */
  readonly pendingEmail: string | null
}

export async function readSecurity(db: Knex, userId: string): Promise<Security> {
  const [row] = await query<Security>(db, {
    name: 'accounts.security',
    text: /* sql */ `
      select u.email_verified_at is not null as "emailVerified", u.password_hash is not null as "hasPassword",
             exists (select from totp_factors where user_id = u.id and confirmed_at is not null) as totp,
             (select count(*) from recovery_codes where user_id = u.id and used_at is null)::int as "recoveryCodesLeft",
             (select count(*) from passkeys where user_id = u.id)::int as passkeys,
             u.frozen_at as "frozenAt", u.tip_mails as "tipMails",
             (select content from one_time_secrets
               where user_id = u.id and purpose = 'email_change' and used_at is null and expires_at > clock_timestamp()
               order by created_at desc limit 1) as "pendingEmail"
        from users u where u.id = $1`,
    values: [userId],
  })
  if (row === undefined) throw new Error(`There is no user ${userId}`)
  return row
}
