import type { z } from 'zod'
import type { Caller } from '../../http/security/caller.js'
import { DomainError } from '../../kernel/errors.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import type { Account } from '../account.js'
import { assertNotReserved, isReserved } from '../emails/take-address.js'
import { User } from '../models.js'
import type { Passwords } from '../password.js'
import type { registration } from '../schemas.js'
import { type AccountSession, openSession } from '../sessions/session.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'> & { readonly passwords: Passwords }

/**
 * Creates an account with its wallet and party rows and opens its first session, in one transaction. A worker
 * provisions the wallet afterwards. The session that the caller presents ends. Throws `email_in_use`; of
 * several concurrent registrations of one e-mail, one succeeds.
 */
export async function register(
  { config, db, transact, passwords }: Needs,
  { email, password, name }: z.output<typeof registration>,
  caller: Caller,
): Promise<AccountSession> {
  // Saves the costly hash in the common case. The unique constraint decides: another request may insert in between.
  if ((await User.query(db).findOne({ email }).select('id')) !== undefined || (await isReserved(db, email)))
    throw new DomainError('email_in_use')
  const passwordHash = await passwords.hash(password)
  return transact(async (uow) => {
    const account = await createAccount(uow, { email, name, passwordHash, registeredNetwork: caller.network })
    const session = await openSession(uow, config, account, caller)
    return { account, session }
  })
}

async function createAccount(
  { trx, wake }: UnitOfWork,
  fields: Pick<User, 'email' | 'name' | 'passwordHash' | 'registeredNetwork'>,
): Promise<Account> {
  const user = await User.query(trx).insert(fields).onConflict('email').ignore().returning('*')
  // Nothing is returned of a row that is not inserted.
  if (user.id === undefined) throw new DomainError('email_in_use')
  await assertNotReserved(trx, fields.email, user.id)
  await user.$relatedQuery('wallet', trx).insert({})
  await trx('parties').insert({ user_id: user.id })
  wake('provisioner')
  return { ...user, walletPublicKey: null }
}
