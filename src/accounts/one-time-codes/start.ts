import { DomainError } from '../../kernel/errors.js'
import { dropUnsent, queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { codeMail } from './code-mail.js'
import { findOtpAccount } from './find-account.js'
import { codeHmac, newCode } from './one-time-code.js'

/** The contract's life of a code. */
const codeMinutes = 10
const kind = 'one-time-code'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/**
 * Makes a new code, which replaces the one before it, and has it mailed. Does nothing, and tells nobody, while the
 * account is locked. Throws `account_not_found`.
 */
export async function startOtp({ config, db, transact }: Needs, email: string): Promise<void> {
  const found = await findOtpAccount(db, email)
  if (found === undefined) throw new DomainError('account_not_found')
  const code = newCode()
  const { id, email: to } = found.account
  await transact(async (uow) => {
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
      values: [id, codeHmac(config.otpPepper, id, code), codeMinutes],
    })
    if (replaced === undefined) return
    // A mail with the code before would arrive late, and be of no use.
    await dropUnsent(uow, { kind, to })
    const content = codeMail({ code, minutes: codeMinutes, site: new URL(config.http.publicUrl).host })
    await queueEmail(uow, { kind, to, expiresAt: replaced.expiresAt, ...content })
  })
}
