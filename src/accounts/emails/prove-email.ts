import { databaseTime } from '../../platform/database/base-model.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { lockUser } from '../lock-user.js'
import { User } from '../models.js'
import { notifyOwner } from '../owner-mails/notify-owner.js'
import { voidCredentials } from '../void-credentials.js'

/** How somebody has shown that they read the mail of an account. */
export interface MailProof {
  readonly network: string
  /** They say that what was set up before is somebody else's. */
  readonly notMine?: boolean | undefined
}

/** Why the first proof of an e-mail voids what was set up before. */
type VoidReason = 'elsewhere' | 'not-mine'

/**
 * Anyone can register another person's address, so what was set up before the first proof is not the owner's for sure: not when
 * the proof comes from another network than the registration, nor when the owner says so. A network that was not recorded counts
 * as the same. Undefined: it stays.
 */
export function voidReason(
  { emailVerifiedAt, registeredNetwork }: Pick<User, 'emailVerifiedAt' | 'registeredNetwork'>,
  { network, notMine }: MailProof,
): VoidReason | undefined {
  if (emailVerifiedAt !== null) return undefined
  if (registeredNetwork !== null && registeredNetwork !== network) return 'elsewhere'
  return notMine === true ? 'not-mine' : undefined
}

/**
 * Marks the e-mail of an account as verified, because the caller has read a mail to it. The first proof may void the credentials
 * made before (`voidReason`).
 */
export async function proveEmail<Owner extends { readonly id: string; readonly email: string }>(
  uow: UnitOfWork,
  publicUrl: string,
  owner: Owner,
  proof: MailProof,
): Promise<Owner & { readonly emailVerifiedAt: Date }> {
  const user = await lockUser(uow.trx, owner.id)
  if (user.emailVerifiedAt !== null) return { ...owner, emailVerifiedAt: user.emailVerifiedAt }
  const emailVerifiedAt = await markVerified(uow, owner.id)
  await endFirstProof(uow, publicUrl, user, proof)
  return { ...owner, emailVerifiedAt }
}

/**
 * What the first proof of an account's e-mail brings with it: credentials that somebody else may have made are void, and the
 * address that the account has now is told.
 */
export async function endFirstProof(
  uow: UnitOfWork,
  publicUrl: string,
  user: Pick<User, 'id' | 'emailVerifiedAt' | 'registeredNetwork'>,
  proof: MailProof,
): Promise<void> {
  const reason = voidReason(user, proof)
  if (reason !== undefined) await voidCredentials(uow.trx, user.id)
  await notifyOwner(uow, publicUrl, user.id, { kind: 'email-proven', voidReason: reason })
}

/** Sets when the e-mail was verified. */
async function markVerified({ trx }: UnitOfWork, userId: string): Promise<Date> {
  const [user] = await User.query(trx)
    .patch({ emailVerifiedAt: databaseTime })
    .where({ id: userId })
    .returning('email_verified_at')
  if (user?.emailVerifiedAt == null) throw new Error('The account does not exist any more')
  return user.emailVerifiedAt
}
