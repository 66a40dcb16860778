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
import { proveEmail, readProof, verifySignInByMail } from '../emails/prove-email.js'
import { refusalOf } from '../factors/factor-rules.js'
import type { signInLinkInput } from '../schemas.js'
import { linkUrl, purposes, storeSecret, useLink } from '../secrets/secrets.js'
import { type AccountSession, openSession } from '../sessions/session.js'
import { linkEmail } from './mails.js'

/**
 * Mails a link that logs in, while the account's codes are locked: whoever guesses codes does not keep its owner out. Does
 * nothing when a link was mailed in the last 15 minutes. The caller holds the lock of the attempts (`createSignInCode`,
 * `trySignInCode`), and of the address (`holdAddress`).
 */
export async function mailSignInLink(
  uow: UnitOfWork,
  publicUrl: string,
  { id, email }: Pick<Account, 'id' | 'email'>,
): Promise<void> {
  const token = newSecret()
  const expiresAt = await storeSecret(uow.trx, 'sign_in_link', { userId: id, hash: hashSecret(token) })
  if (expiresAt === undefined) return
  const url = linkUrl(publicUrl, 'sign-in', token)
  const content = linkEmail({ url, minutes: purposes.sign_in_link.minutes, site: new URL(publicUrl).host })
  await queueEmail(uow, { kind: 'sign-in-link', to: email, expiresAt, ...content })
}

/** A change of the e-mail may have been undone meanwhile: nothing is mailed to the address before. False: it is another one. */
export async function holdAddress(
  trx: Knex.Transaction,
  { id, email }: Pick<Account, 'id' | 'email'>,
): Promise<boolean> {
  const held = await query(trx, {
    name: 'otp.owned',
    text: 'select 1 from users where id = $1 and email = $2 for share',
    values: [id, email],
  })
  return held.length > 0
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
    await useLink(uow.trx, 'sign_in_link', token)
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
        from one_time_secrets s join users u on u.id = s.user_id left join wallets w on w.user_id = u.id
       where s.hash = $1 and s.purpose = 'sign_in_link' and s.used_at is null and s.expires_at > clock_timestamp()
         for update of s`,
    values: [hashSecret(token)],
  })
  if (account === undefined) throw new DomainError('invalid_link')
  return account
}
