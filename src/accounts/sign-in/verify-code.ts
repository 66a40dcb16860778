import type { z } from 'zod'
import type { Caller } from '../../http/security/caller.js'
import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { proveEmail, readProof, verifySignInByMail } from '../emails/prove-email.js'
import { refusalOf } from '../factors/factor-rules.js'
import type { otpVerifyInput } from '../schemas.js'
import { accountLocked, forgetAttempt } from '../secrets/attempts.js'
import { trySignInCode, useSignInCode } from '../secrets/codes.js'
import { type AccountSession, openSession } from '../sessions/session.js'
import { holdAddress, mailSignInLink } from './sign-in-link.js'
import { findOtpAccount } from './start-code.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/**
 * Opens a session for the newest code of an account and, where it has one, the second factor, and marks the e-mail as verified.
 * A code works once; without the right factor it is not used up. The session that the caller presents ends; other sessions of
 * the account stay open, unless the e-mail is proven for the first time. Throws `invalid_code`, `second_factor_required`. After
 * five failed attempts within 15 minutes it throws `account_locked`, also for the right code. With the fifth a link is mailed: whoever
 * guesses codes may have used up the requests for one.
 */
export async function verifyOtp(
  { config, db, transact }: Needs,
  { email, code, totp, notMine }: z.output<typeof otpVerifyInput>,
  caller: Caller,
): Promise<AccountSession> {
  const found = await findOtpAccount(db, email)
  if (found === undefined) throw new DomainError('invalid_code')
  // Saves the row lock in the common case. `trySignInCode` decides: the account may become locked in between.
  if (found.lockedSeconds > 0) throw accountLocked(found.lockedSeconds)
  const { id } = found.account
  const result = await transact(async (uow) => {
    const attempt = await trySignInCode(uow.trx, config, id, code)
    // A double click is refused, but not counted as a failed attempt.
    if (attempt === 'used') await forgetAttempt(uow.trx, id, 'sign_in_code')
    if (attempt === 'locks' && (await holdAddress(uow.trx, found.account)))
      await mailSignInLink(uow, config.http.publicUrl, found.account)
    if (typeof attempt === 'string') return attempt
    const proof = { ...(await readProof(uow.trx, config, found.account, caller)), notMine }
    const factor = await verifySignInByMail(uow, config, found.account, { totp, ...proof })
    if (factor.kind !== 'right') {
      await forgetAttempt(uow.trx, id, 'sign_in_code')
      return factor
    }
    await useSignInCode(uow.trx, id, attempt.id)
    const account = await proveEmail(uow, config, found.account, proof)
    return { account, session: await openSession(uow, config, account, caller) }
  })
  // Throw after the commit: a throw inside the transaction would undo the count.
  if (result === 'locked') throw accountLocked(0)
  if (result === 'wrong' || result === 'locks' || result === 'used') throw new DomainError('invalid_code')
  if ('kind' in result) throw refusalOf(result)
  return result
}
