import type { z } from 'zod'
import type { Caller } from '../../http/security/caller.js'
import { DomainError } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { verifySignIn } from '../factors/check-factor.js'
import { refusalOf } from '../factors/factor-rules.js'
import type { passkeyLoginInput } from '../factors/schemas.js'
import { usePasskey, verifyLogin } from '../factors/verify-passkey.js'
import { User, type UserWithWallet } from '../models.js'
import type { Passwords } from '../password.js'
import { type credentials, emailAddress } from '../schemas.js'
import { type AccountSession, openSession, openSessionByPassword } from '../sessions/session.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'> & { readonly passwords: Passwords }

/**
 * Opens a session for the right password and, where the account has one, the second factor. The session that the caller
 * presents ends. Throws `invalid_credentials`, after the same amount of work for an unknown e-mail and for a wrong password;
 * then `second_factor_required`, `invalid_code`, `account_locked`.
 */
export async function login(
  { config, db, transact, passwords }: Needs,
  { email, password, totp }: z.output<typeof credentials>,
  caller: Caller,
): Promise<AccountSession> {
  const found = await findByEmail({ db }, email)
  const matches = await passwords.matches(found?.passwordHash, password)
  if (found === undefined || !matches) throw new DomainError('invalid_credentials')
  const opened = await openSessionByPassword(db, config, found, caller)
  if (opened !== undefined) return { account: found, session: opened }
  const result = await transact(async (uow) => {
    await assertUnchanged(uow, found)
    const factor = await verifySignIn(uow, config, found.id, totp)
    return factor.kind === 'right' ? openSession(uow, config, found, caller) : factor
  })
  // Throw after the commit: a throw inside the transaction would undo the count.
  if ('kind' in result) throw refusalOf(result)
  return { account: found, session: result }
}

/** The password may have become void while it was compared. The lock keeps it until the session is written. */
async function assertUnchanged({ trx }: UnitOfWork, { id, passwordHash }: User): Promise<void> {
  const unchanged = await query(trx, {
    name: 'login.unchanged',
    text: 'select 1 from users where id = $1 and password_hash = $2 for share',
    values: [id, passwordHash],
  })
  if (unchanged.length === 0) throw new DomainError('invalid_credentials')
}

/** A text that is not an e-mail address is not sent to the database: it may hold a NUL, which PostgreSQL refuses. */
async function findByEmail({ db }: Pick<Services, 'db'>, text: string): Promise<UserWithWallet | undefined> {
  const email = emailAddress.safeParse(text)
  return email.success ? User.withWallet(db).findOne({ email: email.data }) : undefined
}

/**
 * Opens a session with a passkey alone: it is held by the device, and the device has verified its user. The session that the caller
 * presents ends. Throws `invalid_passkey`.
 */
export async function logInWithPasskey(
  services: Pick<Services, 'config' | 'transact'>,
  { response }: z.output<typeof passkeyLoginInput>,
  caller: Caller,
): Promise<AccountSession> {
  const verified = await verifyLogin(services, response)
  if (verified === undefined) throw new DomainError('invalid_passkey')
  return services.transact(async (uow) => {
    if (!(await usePasskey(uow.trx, verified))) throw new DomainError('invalid_passkey')
    const account = await User.withWallet(uow.trx).findOne({ 'users.id': verified.userId })
    if (account === undefined) throw new Error('A passkey has no account')
    return { account, session: await openSession(uow, services.config, account, caller) }
  })
}
