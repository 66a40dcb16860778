import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { type Account, User } from '../account.js'
import { emailAddress } from '../schemas.js'
import type { Passwords } from './password.js'
import type { Entered } from './register.js'
import { openSession } from './session.js'

type Needs = Pick<Services, 'config' | 'db'> & { readonly passwords: Passwords }

/**
 * Opens a session for the right password; `presentedToken`, the caller's old session, ends. Throws
 * `invalid_credentials`, after the same work whether the e-mail, the password or both are wrong.
 */
export async function login(
  { config, db, passwords }: Needs,
  { email, password }: { readonly email: string; readonly password: string },
  presentedToken: string | undefined,
): Promise<Entered> {
  const found = await findByEmail({ db }, email)
  const matches = await passwords.matches(found?.passwordHash, password)
  if (found === undefined || !matches) throw new DomainError('invalid_credentials')
  const session = await openSession(db, config.sessions, found.id, presentedToken)
  return { account: found, session }
}

/** A text that is no e-mail address belongs to nobody, and need not be fit for a query either (a NUL is not). */
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
