import { databaseTime } from '../../platform/database/base-model.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { lockUser } from '../lock-user.js'
import { User } from '../models.js'
import { notifyOwner } from '../owner-mails/notify-owner.js'
import { voidCredentials } from '../void-credentials.js'

/**
 * Whether the first proof of an e-mail comes from another network than the registration. Anyone can register another person's
 * address, so what was set up before is not the owner's for sure. A network that was not recorded counts as the same.
 */
export function isFirstProofElsewhere(
  { emailVerifiedAt, registeredNetwork }: Pick<User, 'emailVerifiedAt' | 'registeredNetwork'>,
  network: string,
): boolean {
  return emailVerifiedAt === null && registeredNetwork !== null && registeredNetwork !== network
}

/**
 * Marks the e-mail of an account as verified, because the caller has read a mail to it. A first proof from elsewhere voids the
 * credentials made before.
 */
export async function proveEmail<Owner extends { readonly id: string; readonly email: string }>(
  uow: UnitOfWork,
  publicUrl: string,
  owner: Owner,
  network: string,
): Promise<Owner & { readonly emailVerifiedAt: Date }> {
  const user = await lockUser(uow.trx, owner.id)
  if (user.emailVerifiedAt !== null) return { ...owner, emailVerifiedAt: user.emailVerifiedAt }
  const emailVerifiedAt = await markVerified(uow, owner.id)
  await endFirstProof(uow, publicUrl, user, network)
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
  network: string,
): Promise<void> {
  const credentialsVoid = isFirstProofElsewhere(user, network)
  if (credentialsVoid) await voidCredentials(uow.trx, user.id)
  await notifyOwner(uow, publicUrl, user.id, { kind: 'email-proven', credentialsVoid })
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
