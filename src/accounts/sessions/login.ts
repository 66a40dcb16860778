import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { User, type UserWithWallet } from '../models.js'
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
async function findByEmail({ db }: Pick<Services, 'db'>, text: string): Promise<UserWithWallet | undefined> {
  const email = emailAddress.safeParse(text)
  return email.success ? User.withWallet(db).findOne({ email: email.data }) : undefined
}
