import type { Knex } from 'knex'
import type { Caller } from '../../http/security/caller.js'
import { DomainError } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { proveEmail } from '../emails/prove-email.js'
import { type AccountSession, openSession } from '../sessions/session.js'
import { accountLocked, countAttempt, forgetAttempt } from './lockout.js'
import { codeHmac, findOtpAccount, sameCode } from './one-time-code.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/**
 * Opens a session for the newest code of an account and marks the e-mail as verified. A code works once. The session
 * that the caller presents ends; other sessions of the account stay open, unless the e-mail is proven for the first time. Throws `invalid_code`. After five
 * failed attempts within 15 minutes it throws `account_locked`, also for the right code.
 */
export async function verifyOtp(
  { config, db, transact }: Needs,
  { email, code }: { readonly email: string; readonly code: string },
  caller: Caller,
): Promise<AccountSession> {
  const found = await findOtpAccount(db, email)
  if (found === undefined) throw new DomainError('invalid_code')
  // Saves the row lock in the common case. `countAttempt` decides: the account may become locked in between.
  if (found.lockedSeconds > 0) throw accountLocked(found.lockedSeconds)
  const presented = codeHmac(config.otpPepper, found.account.id, code)
  const result = await transact(async (uow) => {
    const outcome = await checkCode(uow.trx, found.account.id, presented)
    if (outcome !== 'right') return outcome
    const account = await proveEmail(uow, config.http.publicUrl, found.account, caller.network)
    return { account, session: await openSession(uow, config, account, caller) }
  })
  // Throw after the commit: a throw inside the transaction would undo the count.
  if (result === 'locked') throw accountLocked(0)
  if (result === 'wrong') throw new DomainError('invalid_code')
  return result
}

/** A used code, presented again (a double click), is refused but not counted as a failed attempt. */
async function checkCode(
  trx: Knex.Transaction,
  userId: string,
  presented: Buffer,
): Promise<'right' | 'wrong' | 'locked'> {
  const newest = await countAttempt(trx, userId)
  if (newest === undefined) return 'locked'
  if (newest.expired || !sameCode(newest.codeHmac, presented)) return 'wrong'
  if (await useCode(trx, userId, presented)) return 'right'
  await forgetAttempt(trx, userId)
  return 'wrong'
}

/** Marks the code as used and clears the failed attempts. Returns false when the code was replaced or already used. */
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
