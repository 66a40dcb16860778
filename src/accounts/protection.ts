import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/** So long a change of the e-mail can be undone, and money moves only with a confirmation after a change of e-mail or factors. */
export const cautionHours = 72

/** SQL: it was made at that time, so shortly before the account of the user `u` was frozen, or since, that a thief may have made it. */
export function youngWhenFrozen(at: string): string {
  return `${at} >= u.frozen_at - interval '${cautionHours} hours'`
}

export interface RecentChanges {
  readonly email: string
  /** The owner has shown to read that address. */
  readonly proven: boolean
  /** Where codes for money go: the oldest address that can still be restored, else the current one. */
  readonly moneyEmail: string
  /** The e-mail or a second factor was changed in the last 72 hours. */
  readonly changed: boolean
  /** When this was read. */
  readonly at: Date
}

/** The columns of `RecentChanges`, as SQL that names the user `u`. */
export const recentChanges = /* sql */ `
  u.email, u.email_verified_at is not null as proven, clock_timestamp() as at,
  coalesce(
    (select old_email from email_changes
      where user_id = u.id and undone_at is null and undo_until > clock_timestamp() order by changed_at, id limit 1),
    u.email) as "moneyEmail",
  coalesce(u.factors_changed_at > clock_timestamp() - interval '${cautionHours} hours', false)
  or exists (
    select from email_changes
     where user_id = u.id and changed_at > clock_timestamp() - interval '${cautionHours} hours') as changed`

/** What was changed lately that a thief would change first. */
export async function readRecentChanges(db: Knex, userId: string): Promise<RecentChanges> {
  const [row] = await query<RecentChanges>(db, {
    name: 'accounts.recent-changes',
    text: `select ${recentChanges} from users u where u.id = $1`,
    values: [userId],
  })
  if (row === undefined) throw new Error(`There is no user ${userId}`)
  return row
}

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

/** Whether a user has a second factor in force, for so many hours at least, as SQL. */
export function hasFactorSql(userId: string, hours: string): string {
  return /* sql */ `
    (exists (select from totp_factors where user_id = ${userId} and confirmed_at <= clock_timestamp() - ${hours}::int * interval '1 hour')
    or exists (select from passkeys where user_id = ${userId} and created_at <= clock_timestamp() - ${hours}::int * interval '1 hour'))`
}

/** Whether the account has a second factor in force, for so long at least. Those older than `cautionHours` confirm withdrawals. */
export async function hasFactor(db: Knex, userId: string, olderThanHours = 0): Promise<boolean> {
  const [row] = await query<{ has: boolean }>(db, {
    name: 'factors.has',
    text: `select ${hasFactorSql('$1', '$2')} as has`,
    values: [userId, olderThanHours],
  })
  return row?.has === true
}

export interface FactorCounts {
  readonly passkeys: number
  readonly factors: number
  /** Of the oldest factor in force. */
  readonly oldest: Date | null
}

/** Counts the second factors in force. */
export async function countFactors(db: Knex, userId: string): Promise<FactorCounts> {
  const [counts] = await query<FactorCounts>(db, {
    name: 'factors.counts',
    text: /* sql */ `
      select count(*) filter (where passkey)::int as passkeys, count(*)::int as factors, min(since) as oldest
        from (select false as passkey, confirmed_at as since
                from totp_factors where user_id = $1 and confirmed_at is not null
              union all
              select true, created_at from passkeys where user_id = $1) f`,
    values: [userId],
  })
  if (counts === undefined) throw new Error('The factors were not counted')
  return counts
}
