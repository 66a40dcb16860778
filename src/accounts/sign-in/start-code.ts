import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { dropUnsentEmails, queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { type Account, accountColumns } from '../account.js'
import { type Prover, readProof } from '../emails/prove-email.js'
import { accountLocked } from '../secrets/attempts.js'
import { createSignInCode } from '../secrets/codes.js'
import { purposes } from '../secrets/secrets.js'
import { codeEmail } from './mails.js'
import { holdAddress, mailSignInLink } from './sign-in-link.js'

const { minutes } = purposes.sign_in_code
const kind = 'one-time-code'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/**
 * Creates a code that replaces the previous one, and queues the e-mail with it. Who is signed in to the account and has not proven its
 * e-mail wants to do that, and the mail says so. While the account is locked it mails a link instead, at most one per 15 minutes. Throws
 * `account_not_found`, `account_locked`.
 */
export async function startOtp(
  { config, db, transact }: Needs,
  email: string,
  prover: Prover,
): Promise<void> {
  const found = await findOtpAccount(db, email)
  if (found === undefined) throw new DomainError('account_not_found')
  const { id, email: to } = found.account
  const started = await transact(async (uow) => {
    if (!(await holdAddress(uow.trx, found.account))) throw new DomainError('account_not_found')
    const made = await createSignInCode(uow.trx, config, id)
    if (made === undefined) {
      await mailSignInLink(uow, config.http.publicUrl, found.account)
      return false
    }
    // An unsent e-mail holds a code that is no longer valid.
    await dropUnsentEmails(uow, { kind, to })
    const { carried } = await readProof(uow.trx, config, found.account, prover)
    const confirms = carried !== undefined
    const content = codeEmail({
      code: made.code,
      minutes,
      site: new URL(config.http.publicUrl).host,
      confirms,
    })
    await queueEmail(uow, { kind, to, expiresAt: made.expiresAt, ...content })
    return true
  })
  // Throw after the commit: a throw inside the transaction would undo the link.
  if (!started) throw accountLocked(found.lockedSeconds)
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
      select ${accountColumns}, greatest(0, coalesce(ceil(extract(epoch from a.locked_until - clock_timestamp())), 0))::int as "lockedSeconds"
        from users u left join wallets w on w.user_id = u.id
             left join code_attempts a on a.user_id = u.id and a.kind = 'sign_in_code'
       where u.email = $1`,
    values: [email],
  })
  if (row === undefined) return undefined
  const { lockedSeconds, ...account } = row
  return { account, lockedSeconds }
}
