import type { Knex } from 'knex'
import { z } from 'zod'
import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { lockUser } from '../account.js'
import { checkFactor, type PresentedFactor, presentsFactor } from '../factors/check-factor.js'
import { Session, User } from '../models.js'
import type { Passwords } from '../password.js'
import { cautionHours, countFactors, hasFactor } from '../protection.js'
import { totpField } from '../schemas.js'
import { assertRecentSession } from '../sessions/auth.js'
import type { SignedIn } from '../sessions/session.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'> & { readonly passwords: Passwords }

/** What shows that the owner, and not only a stolen cookie, asks. */
export interface Presented extends PresentedFactor {
  readonly password?: string | undefined
}

/** What `assertStillOwner` compares. */
export interface Proof {
  /** The account's password hash when the proof was checked. */
  readonly passwordHash: string | null
}

/**
 * Checks the password or a second factor. An account without a password needs a factor or, if it has none, a session opened
 * in the last minutes: it was opened by a mailed code. Throws `invalid_credentials` for a wrong password, `password_required`
 * when neither is given, and what `checkFactor` throws.
 */
export async function reauthenticate(
  services: Needs,
  signedIn: SignedIn,
  { password, ...factor }: Presented,
): Promise<Proof> {
  const { id } = signedIn.account
  const user = await User.query(services.db).findById(id).select('password_hash')
  const passwordHash = user?.passwordHash ?? null
  // A factor that a thief has just added proves nothing.
  if (presentsFactor(factor)) await checkFactor(services, id, factor, { olderThanHours: cautionHours })
  else if (password !== undefined) {
    if (!(await services.passwords.matches(passwordHash, password)))
      throw new DomainError('invalid_credentials')
  } else if (passwordHash !== null) throw new DomainError('password_required')
  else if (await hasFactor(services.db, id)) throw new DomainError('second_factor_required')
  else assertRecentSession(signedIn)
  return { passwordHash }
}

/**
 * As `reauthenticate`, but with a factor on the password alone is refused with `second_factor_required`. A factor counts without
 * the password when it is older than 72 hours. With the password the account's oldest counts too, however young it is, and a
 * recovery code: the owner is not stuck, and a thief with the password gains nothing by adding a factor beside it.
 */
export async function reauthenticateTwice(
  services: Needs,
  signedIn: SignedIn,
  { password, ...factor }: Presented,
): Promise<Proof> {
  const { oldest } = await countFactors(services.db, signedIn.account.id)
  // Before the password is compared: the refusal does not say whether it is right.
  if (oldest !== null && !presentsFactor(factor)) throw new DomainError('second_factor_required')
  if (oldest === null || password === undefined)
    return reauthenticate(services, signedIn, { password, ...factor })
  const proof = await reauthenticate(services, signedIn, { password })
  await checkFactor(services, signedIn.account.id, factor, { notYoungerThan: oldest })
  return proof
}

/**
 * Locks the account and its session for the change that the proof allows. Throws `unauthorized` when the owner has ended the
 * session or set another password since: a thief's request may have been on its way.
 */
export async function assertStillOwner(
  trx: Knex.Transaction,
  { account, sessionHash }: SignedIn,
  { passwordHash }: Proof,
): Promise<User> {
  const user = await lockUser(trx, account.id)
  const session = await Session.query(trx).findById(sessionHash).forUpdate()
  if (session === undefined || user.passwordHash !== passwordHash) throw new DomainError('unauthorized')
  return user
}

/** Of a call that takes a password or a factor, besides those of the password. */
export const proofErrors = [
  'invalid_code',
  'account_locked',
  'second_factor_required',
  'reauthentication_required',
  'account_frozen',
  'unauthorized',
  'forbidden',
] as const

/** The second factor of a call that takes one instead of the password. The check refuses a passkey of a wrong form. */
export const presentedFields = {
  totp: totpField,
  passkey: z.unknown().optional().meta({ type: 'object' }),
}
