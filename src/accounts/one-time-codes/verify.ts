import type { Knex } from 'knex'
import type { z } from 'zod'
import type { Caller } from '../../http/security/caller.js'
import { DomainError } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { proveEmail, readProof } from '../emails/prove-email.js'
import { verifySignInByMail } from '../factors/check-factor.js'
import { refusalOf } from '../factors/factor-rules.js'
import type { otpVerifyInput } from '../schemas.js'
import { type AccountSession, openSession } from '../sessions/session.js'
import { accountLocked, countAttempt, forgetAttempt } from './lockout.js'
import { codeHmac, findOtpAccount, sameCode } from './one-time-code.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/**
 * Opens a session for the newest code of an account and, where it has one, the second factor, and marks the e-mail as verified.
 * A code works once; without the right factor it is not used up. The session that the caller presents ends; other sessions of
 * the account stay open, unless the e-mail is proven for the first time. Throws `invalid_code`, `second_factor_required`. After
 * five failed attempts within 15 minutes it throws `account_locked`, also for the right code.
 */
export async function verifyOtp(
  { config, db, transact }: Needs,
  { email, code, totp, notMine }: z.output<typeof otpVerifyInput>,
  caller: Caller,
): Promise<AccountSession> {
  const found = await findOtpAccount(db, email)
  if (found === undefined) throw new DomainError('invalid_code')
  // Saves the row lock in the common case. `countAttempt` decides: the account may become locked in between.
  if (found.lockedSeconds > 0) throw accountLocked(found.lockedSeconds)
  const presented = config.otpPeppers.map((pepper) => codeHmac(pepper, found.account.id, code))
  const result = await transact(async (uow) => {
    const outcome = await checkCode(uow.trx, found.account.id, presented)
    if (outcome !== 'right') return outcome
    const proof = { ...(await readProof(uow.trx, config, found.account, caller)), notMine }
    const factor = await verifySignInByMail(uow, config, found.account, { totp, ...proof })
    if (factor.kind !== 'right') {
      await forgetAttempt(uow.trx, found.account.id)
      return factor
    }
    await useCode(uow.trx, found.account.id)
    const account = await proveEmail(uow, config, found.account, proof)
    return { account, session: await openSession(uow, config, account, caller) }
  })
  // Throw after the commit: a throw inside the transaction would undo the count.
  if (result === 'locked') throw accountLocked(0)
  if (result === 'wrong') throw new DomainError('invalid_code')
  if ('kind' in result) throw refusalOf(result)
  return result
}

/** The account stays locked until the transaction ends. A used code, presented again (a double click), is refused but not counted as a failed attempt. */
async function checkCode(
  trx: Knex.Transaction,
  userId: string,
  presented: readonly Buffer[],
): Promise<'right' | 'wrong' | 'locked'> {
  const newest = await countAttempt(trx, userId)
  if (newest === undefined) return 'locked'
  if (newest.expired || !presented.some((one) => sameCode(newest.codeHmac, one))) return 'wrong'
  if (!newest.used) return 'right'
  await forgetAttempt(trx, userId)
  return 'wrong'
}

/** Marks the code as used and clears the failed attempts. */
async function useCode(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'otp.use',
    text: /* sql */ `
      update otp_codes
         set used_at = clock_timestamp(), failed_at = '{}', locked_until = null, changed_at = clock_timestamp()
       where user_id = $1`,
    values: [userId],
  })
}
