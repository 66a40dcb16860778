import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { type Account, User } from '../account.js'
import { emailAddress } from '../schemas.js'
import type { Passwords } from './password.js'
import { type AccountSession, openSession } from './session.js'

type Needs = Pick<Services, 'config' | 'db'> & { readonly passwords: Passwords }

/**
 * Opens a session for the right password. The caller's old session (`presentedToken`) ends. Throws
 * `invalid_credentials`, after the same amount of work for an unknown e-mail and for a wrong password.
 */
export async function login(
  { config, db, passwords }: Needs,
  { email, password }: { readonly email: string; readonly password: string },
  presentedToken: string | undefined,
): Promise<AccountSession> {
  const found = await findByEmail({ db }, email)
  const matches = await passwords.matches(found?.passwordHash, password)
  if (found === undefined || !matches) throw new DomainError('invalid_credentials')
  const session = await openSession(db, config.sessions, found.id, presentedToken)
  return { account: found, session }
}

/** A text that is not an e-mail address is not sent to the database: it may hold a NUL, which PostgreSQL refuses. */
async function findByEmail(
  { db }: Pick<Services, 'db'>,
  text: string,
): Promise<(User & Account) | undefined> {
  const email = emailAddress.safeParse(text)
  if (!email.success) return undefined
  const user = await User.query(db)
    .leftJoin('wallets', 'wallets.user_id', 'users.id')
    .select('users.*', 'wallets.public_key as walletPublicKey')
    .findOne({ 'users.email': email.data })
  return user as (User & Account) | undefined
}
