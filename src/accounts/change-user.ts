import type { Knex } from 'knex'
import { firstTime } from '../platform/database/base-model.js'
import { User } from './models.js'

type UserChange = Partial<
  Pick<
    User,
    'name' | 'settings' | 'solDomain' | 'solDomainOwner' | 'twitterHandle' | 'discordHandle' | 'tipMails'
  >
>

/** Changes what other features and operators decide about a user. */
export async function changeUser(trx: Knex.Transaction, userId: string, change: UserChange): Promise<void> {
  await User.query(trx).patch(change).findById(userId)
}

/** Ends every link to this domain but the user's own. */
export async function unlinkDomainOfOthers(
  trx: Knex.Transaction,
  domain: string,
  userId: string,
): Promise<void> {
  await User.query(trx)
    .patch({ solDomain: null, solDomainOwner: null })
    .whereRaw('lower(sol_domain) = ?', domain)
    .whereNot({ id: userId })
}

/** Marks the identity as verified, for the first time or again. */
export async function markIdentityVerified(trx: Knex.Transaction, userId: string): Promise<void> {
  await User.query(trx)
    .patch({ identityVerifiedAt: firstTime('identity_verified_at') })
    .findById(userId)
}
