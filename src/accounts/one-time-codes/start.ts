import { DomainError } from '../../kernel/errors.js'
import { dropUnsentEmails, queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { codeEmail } from './code-mail.js'
import { accountLocked } from './lockout.js'
import { codeHmac, findOtpAccount, newCode } from './one-time-code.js'
import { mailSignInLink } from './sign-in-link.js'

/** API: a code is valid for 10 minutes. */
const codeMinutes = 10
const kind = 'one-time-code'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/**
 * Creates a code that replaces the previous one, and queues the e-mail with it. While the account is locked
 * it mails a link instead, at most one per 15 minutes. Throws `account_not_found`, `account_locked`.
 */
export async function startOtp({ config, db, transact }: Needs, email: string): Promise<void> {
  const found = await findOtpAccount(db, email)
  if (found === undefined) throw new DomainError('account_not_found')
  const code = newCode()
  const { id, email: to } = found.account
  const started = await transact(async (uow) => {
    // A change of the e-mail may have been undone meanwhile: nothing is mailed to the address before.
    const owned = await query(uow.trx, {
      name: 'otp.owned',
      text: 'select 1 from users where id = $1 and email = $2 for share',
      values: [id, to],
    })
    if (owned.length === 0) throw new DomainError('account_not_found')
    const [replaced] = await query<{ expiresAt: Date }>(uow.trx, {
      name: 'otp.start',
      text: /* sql */ `
        insert into otp_codes as o (user_id, code_hmac, expires_at)
        values ($1, $2, clock_timestamp() + $3::int * interval '1 minute')
        on conflict (user_id) do update
           set code_hmac = excluded.code_hmac, expires_at = excluded.expires_at, used_at = null,
               changed_at = clock_timestamp()
         where o.locked_until is null or o.locked_until <= clock_timestamp()
        returning expires_at as "expiresAt"`,
      values: [id, codeHmac(config.otpPeppers[0], id, code), codeMinutes],
    })
    if (replaced === undefined) {
      await mailSignInLink(uow, config.http.publicUrl, found.account)
      return false
    }
    // An unsent e-mail holds a code that is no longer valid.
    await dropUnsentEmails(uow, { kind, to })
    const content = codeEmail({ code, minutes: codeMinutes, site: new URL(config.http.publicUrl).host })
    await queueEmail(uow, { kind, to, expiresAt: replaced.expiresAt, ...content })
    return true
  })
  // Throw after the commit: a throw inside the transaction would undo the link.
  if (!started) throw accountLocked(found.lockedSeconds)
}
