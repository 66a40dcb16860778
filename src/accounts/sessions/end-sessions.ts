import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { lockUser } from '../account.js'
import { Session } from '../models.js'
import { voidSecrets } from '../secrets/secrets.js'
import type { SignedIn } from './session.js'

/** Whether this is the id of the session that the request was sent with. */
export async function isOwnSession(db: Knex, { sessionHash }: SignedIn, id: string): Promise<boolean> {
  return (await Session.query(db).findById(sessionHash).where({ id })) !== undefined
}

/** Ends another session of the account with its access token. Throws `session_not_found`. */
export async function endSession(
  { transact }: Pick<Services, 'transact'>,
  { account }: SignedIn,
  id: string,
): Promise<void> {
  await transact(async ({ trx }) => {
    await lockUser(trx, account.id)
    const ended = await Session.query(trx).delete().where({ id, user_id: account.id })
    if (ended === 0) throw new DomainError('session_not_found')
  })
}

/** Ends every session of the account but the caller's. A change of e-mail that one of them may have asked for is void. */
export async function endOtherSessions(
  { transact }: Pick<Services, 'transact'>,
  { account, sessionHash }: SignedIn,
): Promise<void> {
  await transact(async ({ trx }) => {
    await lockUser(trx, account.id)
    await endSessions(trx, account.id, sessionHash)
    await voidSecrets(trx, account.id, ['email_change'])
  })
}

/** Ends the sessions of an account with their access tokens, except one. What its passkeys were asked to sign is void. */
export async function endSessions(trx: Knex.Transaction, userId: string, except?: Buffer): Promise<void> {
  const ended = Session.query(trx).delete().where({ user_id: userId })
  await (except === undefined ? ended : ended.whereNot({ token_hash: except }))
  await voidSecrets(trx, userId, ['passkey_add', 'passkey_confirm'])
}
