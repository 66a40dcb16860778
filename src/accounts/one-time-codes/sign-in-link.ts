import type { Knex } from 'knex'
import type { z } from 'zod'
import type { Caller } from '../../http/security/caller.js'
import { DomainError } from '../../kernel/errors.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import { queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { type Account, accountColumns } from '../account.js'
import { proveEmail, readProof } from '../emails/prove-email.js'
import { verifySignInByMail } from '../factors/check-factor.js'
import { refusalOf } from '../factors/factor-rules.js'
import { linkUrl } from '../links/account-link.js'
import type { signInLinkInput } from '../schemas.js'
import { type AccountSession, openSession } from '../sessions/session.js'
import { linkEmail } from './code-mail.js'

/** A link is valid this long, and the next one is mailed no sooner. */
const linkMinutes = 15

/**
 * Mails a link that logs in, while the account's codes are locked: whoever guesses codes does not keep its owner out. Does
 * nothing when a link was mailed in the last 15 minutes.
 */
export async function mailSignInLink(
  uow: UnitOfWork,
  publicUrl: string,
  { id, email }: Pick<Account, 'id' | 'email'>,
): Promise<void> {
  const token = newSecret()
  const [mailed] = await query<{ expiresAt: Date }>(uow.trx, {
    name: 'otp.link',
    text: /* sql */ `
      update otp_codes set link_hash = $2, link_mailed_at = clock_timestamp(), changed_at = clock_timestamp()
       where user_id = $1
         and (link_mailed_at is null or link_mailed_at <= clock_timestamp() - $3::int * interval '1 minute')
      returning link_mailed_at + $3::int * interval '1 minute' as "expiresAt"`,
    values: [id, hashSecret(token), linkMinutes],
  })
  if (mailed === undefined) return
  const url = linkUrl(publicUrl, 'sign-in', token)
  const content = linkEmail({ url, minutes: linkMinutes, site: new URL(publicUrl).host })
  await queueEmail(uow, { kind: 'sign-in-link', to: email, expiresAt: mailed.expiresAt, ...content })
}

/**
 * Opens a session for the token of a mailed link and, where the account has one, the second factor, and marks the e-mail as
 * verified. A link works once; without the right factor it is not used up. The lock of the codes neither stops it nor ends by
 * it. The session that the caller presents ends. Throws `invalid_link`, `second_factor_required`, `invalid_code`,
 * `account_locked`.
 */
export async function signInByLink(
  { config, transact }: Pick<Services, 'config' | 'transact'>,
  { token, totp, notMine }: z.output<typeof signInLinkInput>,
  caller: Caller,
): Promise<AccountSession> {
  const result = await transact(async (uow) => {
    const found = await lockLink(uow.trx, token)
    const proof = { ...(await readProof(uow.trx, config, found, caller)), notMine }
    const factor = await verifySignInByMail(uow, config, found, { totp, ...proof })
    if (factor.kind !== 'right') return factor
    await useSignInLink(uow.trx, found.id)
    const account = await proveEmail(uow, config, found, proof)
    return { account, session: await openSession(uow, config, account, caller) }
  })
  // Throw after the commit: a throw inside the transaction would undo the count.
  if ('kind' in result) throw refusalOf(result)
  return result
}

/** Finds the account of a link that is good, and locks the link until the transaction ends. */
async function lockLink(trx: Knex.Transaction, token: string): Promise<Account> {
  const [account] = await query<Account>(trx, {
    name: 'otp.lock-link',
    text: /* sql */ `
      select ${accountColumns}
        from otp_codes o join users u on u.id = o.user_id left join wallets w on w.user_id = u.id
       where o.link_hash = $1 and o.link_mailed_at > clock_timestamp() - $2::int * interval '1 minute'
         for update of o`,
    values: [hashSecret(token), linkMinutes],
  })
  if (account === undefined) throw new DomainError('invalid_link')
  return account
}

async function useSignInLink(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'otp.use-link',
    text: 'update otp_codes set link_hash = null, changed_at = clock_timestamp() where user_id = $1',
    values: [userId],
  })
}
