import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { Account } from '../account.js'
import type { Entered } from '../sessions/register.js'
import { openSession } from '../sessions/session.js'
import { findOtpAccount } from './find-account.js'
import { countAttempt, uncountAttempt } from './lockout.js'
import { codeHmac, sameCode } from './one-time-code.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/**
 * Opens a session for the newest code of an account, once, and marks its e-mail as verified; `presentedToken`, the
 * caller's old session, ends, all others go on. Throws `invalid_code`, and `account_locked` from the sixth failed attempt
 * within 15 minutes on, for the right code too.
 */
export async function verifyOtp(
  { config, db, transact }: Needs,
  { email, code }: { readonly email: string; readonly code: string },
  presentedToken: string | undefined,
): Promise<Entered> {
  const found = await findOtpAccount(db, email)
  if (found === undefined) throw new DomainError('invalid_code')
  // Looked up before the row is fought for. Counting decides: somebody may have locked it in between.
  if (found.locked) throw new DomainError('account_locked')
  const presented = codeHmac(config.otpPepper, found.account.id, code)
  const entered = await transact(async ({ trx }) => {
    const verdict = await judge(trx, found.account.id, presented)
    if (verdict !== 'right') return verdict
    const account = await markVerified(trx, found.account)
    return { account, session: await openSession(trx, config.sessions, account.id, presentedToken) }
  })
  // Only now: thrown inside, it would roll the count back.
  if (entered === 'locked') throw new DomainError('account_locked')
  if (entered === 'wrong') throw new DomainError('invalid_code')
  return entered
}

/**
 * Presenting the right code again after it was used is no guess: an impatient second click opens nothing, but does
 * not bring the account nearer to its lock either.
 */
async function judge(
  trx: Knex.Transaction,
  userId: string,
  presented: Buffer,
): Promise<'right' | 'wrong' | 'locked'> {
  const attempt = await countAttempt(trx, userId)
  if (attempt === undefined) return 'locked'
  if (attempt.expired || !sameCode(attempt.codeHmac, presented)) return 'wrong'
  if (await useCode(trx, userId, presented)) return 'right'
  await uncountAttempt(trx, userId)
  return 'wrong'
}

/** Uses the code up and forgives the failed attempts before it. False when it is another code by now, or used. */
async function useCode(trx: Knex.Transaction, userId: string, presented: Buffer): Promise<boolean> {
  const used = await query(trx, {
    name: 'otp.use',
    text: /* sql */ `
      update otp_codes
         set used_at = clock_timestamp(), failed_at = '{}', locked_until = null, changed_at = clock_timestamp()
       where user_id = $1 and code_hmac = $2 and used_at is null and expires_at > clock_timestamp()
      returning user_id`,
    values: [userId, presented],
  })
  return used.length === 1
}

async function markVerified(trx: Knex.Transaction, account: Account): Promise<Account> {
  const [row] = await query<{ emailVerifiedAt: Date }>(trx, {
    name: 'otp.mark-verified',
    text: /* sql */ `
      update users set email_verified_at = coalesce(email_verified_at, clock_timestamp())
       where id = $1 returning email_verified_at as "emailVerifiedAt"`,
    values: [account.id],
  })
  if (row === undefined) throw new Error('The account is gone')
  return { ...account, emailVerifiedAt: row.emailVerifiedAt }
}
