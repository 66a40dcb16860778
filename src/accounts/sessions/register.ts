import type { Knex } from 'knex'
import type { z } from 'zod'
import { DomainError } from '../../kernel/errors.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { type Account, User } from '../account.js'
import type { registration } from '../schemas.js'
import type { Passwords } from './password.js'
import { type AccountSession, openSession } from './session.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'> & { readonly passwords: Passwords }

/**
 * Creates an account with its wallet and party rows and opens its first session, in one transaction. A worker
 * provisions the wallet afterwards. The caller's old session (`presentedToken`) ends. Throws `email_in_use`; of
 * several concurrent registrations of one e-mail, one succeeds.
 */
export async function register(
  { config, db, transact, passwords }: Needs,
  { email, password, name }: z.output<typeof registration>,
  presentedToken: string | undefined,
): Promise<AccountSession> {
  // Saves the costly hash in the common case. The unique constraint decides: another request may insert in between.
  if ((await User.query(db).findOne({ email }).select('id')) !== undefined)
    throw new DomainError('email_in_use')
  const passwordHash = await passwords.hash(password)
  return transact(async (uow) => {
    const account = await createAccount(uow, { email, name, password_hash: passwordHash })
    const session = await openSession(uow.trx, config.sessions, account.id, presentedToken)
    return { account, session }
  })
}

interface NewUser {
  readonly email: string
  readonly name: string
  readonly password_hash: string
}

async function createAccount({ trx, wake }: UnitOfWork, fields: NewUser): Promise<Account> {
  const user = await insertUser(trx, fields)
  if (user === undefined) throw new DomainError('email_in_use')
  await trx('wallets').insert({ user_id: user.id })
  await trx('parties').insert({ user_id: user.id })
  wake('provisioner')
  return { ...user, walletPublicKey: null }
}

async function insertUser(trx: Knex.Transaction, fields: NewUser): Promise<User | undefined> {
  const [row] = await trx('users').insert(fields).onConflict('email').ignore().returning('*')
  return row === undefined ? undefined : User.fromDatabaseJson(row)
}
