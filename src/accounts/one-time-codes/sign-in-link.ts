import type { Knex } from 'knex'
import type { Caller } from '../../http/security/caller.js'
import { DomainError } from '../../kernel/errors.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import { queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { type Account, accountColumns } from '../account.js'
import { proveEmail } from '../emails/prove-email.js'
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
  // Browsers do not send the fragment, so the token reaches no log. The page there logs in when its button is pressed.
  const url = `${publicUrl}/dashboard#sign-in=${token}`
  const content = linkEmail({ url, minutes: linkMinutes, site: new URL(publicUrl).host })
  await queueEmail(uow, { kind: 'sign-in-link', to: email, expiresAt: mailed.expiresAt, ...content })
}

/**
 * Opens a session for the token of a mailed link and marks the e-mail as verified. A link works once. The lock of the
 * codes neither stops it nor ends by it. The session that the caller presents ends. Throws `invalid_link`.
 */
export async function openLink(
  { config, transact }: Pick<Services, 'config' | 'transact'>,
  token: string,
  caller: Caller,
): Promise<AccountSession> {
  return transact(async (uow) => {
    const found = await useLink(uow.trx, token)
    const account = await proveEmail(uow, config.http.publicUrl, found, caller.network)
    return { account, session: await openSession(uow, config, account, caller) }
  })
}

async function useLink(trx: Knex.Transaction, token: string): Promise<Account> {
  const [account] = await query<Account>(trx, {
    name: 'otp.use-link',
    text: /* sql */ `
      with used as (
        update otp_codes set link_hash = null, changed_at = clock_timestamp()
         where link_hash = $1 and link_mailed_at > clock_timestamp() - $2::int * interval '1 minute'
        returning user_id)
      select ${accountColumns} from used join users u on u.id = used.user_id left join wallets w on w.user_id = u.id`,
    values: [hashSecret(token), linkMinutes],
  })
  if (account === undefined) throw new DomainError('invalid_link')
  return account
}
