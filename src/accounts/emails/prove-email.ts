import { databaseTime } from '../../platform/database/base-model.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { User } from '../models.js'
import { notifyOwner } from '../owner-mails/notify-owner.js'
import { lockUser, voidCredentials } from '../void-credentials.js'

/**
 * Marks the e-mail of an account as verified, because the caller has read a mail to it. Anyone can register another person's
 * address: so the first proof voids the credentials made before, if it comes from another network than the registration. An
 * account whose network was not recorded keeps them.
 */
export async function proveEmail<Owner extends { readonly id: string; readonly email: string }>(
  uow: UnitOfWork,
  publicUrl: string,
  owner: Owner,
  network: string,
): Promise<Owner & { readonly emailVerifiedAt: Date }> {
  const { emailVerifiedAt: before, registeredNetwork } = await lockUser(uow.trx, owner.id)
  if (before !== null) return { ...owner, emailVerifiedAt: before }
  const credentialsVoid = registeredNetwork !== null && registeredNetwork !== network
  if (credentialsVoid) await voidCredentials(uow.trx, owner.id)
  await notifyOwner(uow, publicUrl, owner.id, { kind: 'email-proven', credentialsVoid })
  return { ...owner, emailVerifiedAt: await markVerified(uow, owner.id) }
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
