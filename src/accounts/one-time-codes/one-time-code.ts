import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import { type Account, accountColumns } from '../account.js'

/** API: a code is six digits. */
export const codePattern = /^[0-9]{6}$/
const codes = 1_000_000

/**
 * Mailed codes that confirm a change or a withdrawal: valid as long as those that sign in, void after so many wrong ones, and so
 * many for one account in 24 hours: at most fifty guesses a day among a million codes.
 */
export const confirmationCodes = { minutes: 10, mostFailures: 5, mostADay: 10 } as const

/** A random code of six digits. All codes are equally likely. */
export function newCode(): string {
  return String(randomInt(codes)).padStart(6, '0')
}

/**
 * The stored form of a code. The key (pepper) prevents a reader of the table from trying all million codes. The user
 * id makes equal codes of two users different.
 */
export function codeHmac(pepper: Uint8Array, userId: string, code: string): Buffer {
  return createHmac('sha256', pepper).update(`otp/1|${userId}|${code}`).digest()
}

/** Compares two stored forms in constant time. */
export function sameCode(one: Uint8Array | null, other: Uint8Array): boolean {
  return one !== null && one.length === other.length && timingSafeEqual(one, other)
}

/** Voids the code and the link that were mailed. Failed attempts and a lock stay. */
export async function voidCodes(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'otp.void',
    text: 'update otp_codes set code_hmac = null, expires_at = null, link_hash = null where user_id = $1',
    values: [userId],
  })
}

export interface OtpAccount {
  readonly account: Account
  /** Whole seconds until the account's codes are unlocked; 0 when they are not locked. */
  readonly lockedSeconds: number
}

/** Finds the account with this e-mail address (in its stored form), and how long its one-time codes are still locked. */
export async function findOtpAccount(db: Knex, email: string): Promise<OtpAccount | undefined> {
  const [row] = await query<Account & { lockedSeconds: number }>(db, {
    name: 'otp.account',
    text: /* sql */ `
      select ${accountColumns}, greatest(0, coalesce(ceil(extract(epoch from o.locked_until - clock_timestamp())), 0))::int as "lockedSeconds"
        from users u left join wallets w on w.user_id = u.id left join otp_codes o on o.user_id = u.id
       where u.email = $1`,
    values: [email],
  })
  if (row === undefined) return undefined
  const { lockedSeconds, ...account } = row
  return { account, lockedSeconds }
}
