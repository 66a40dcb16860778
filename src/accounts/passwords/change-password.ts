import type { Caller } from '../../http/security/caller.js'
import type { Services } from '../../services.js'
import type { PresentedFactor } from '../factors/check-factor.js'
import { User } from '../models.js'
import { notifyOwner, warning } from '../notify-owner.js'
import type { Passwords } from '../password.js'
import { voidSecrets } from '../secrets/secrets.js'
import { endSessions } from '../sessions/end-sessions.js'
import { type AccountSession, openSession, type SignedIn } from '../sessions/session.js'
import { assertStillOwner, reauthenticate } from '../step-up/reauthenticate.js'
import { assertUncommon } from './common-passwords.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'> & { readonly passwords: Passwords }

interface PasswordChange extends PresentedFactor {
  readonly currentPassword?: string | undefined
  readonly newPassword: string
}

/**
 * Sets a new password. Every session ends, and the caller gets a new one: a thief may hold the same cookie. Mailed links that
 * change password or e-mail are void. The password suffices also with a factor on: only its owner knows it, every session ends,
 * signing in still needs the factor, and a mail tells the owner. Throws what `reauthenticate` throws, and `common_password`.
 */
export async function changePassword(
  services: Needs,
  signedIn: SignedIn,
  { currentPassword, newPassword, ...factor }: PasswordChange,
  caller: Caller,
): Promise<AccountSession> {
  const { config, passwords, transact } = services
  const { account } = signedIn
  const proof = await reauthenticate(services, signedIn, { password: currentPassword, ...factor })
  await assertUncommon(config, newPassword, account)
  const passwordHash = await passwords.hash(newPassword)
  return transact(async (uow) => {
    await assertStillOwner(uow.trx, signedIn, proof)
    await User.query(uow.trx).findById(account.id).patch({ passwordHash })
    await voidSecrets(uow.trx, account.id, ['password_reset', 'email_change'])
    await endSessions(uow.trx, account.id)
    await notifyOwner(uow, config.http.publicUrl, account.id, passwordNotice, caller)
    return { account, session: await openSession(uow, config, account, caller) }
  })
}

export const passwordNotice = warning('password-changed', (site) => ({
  subject: `Your password at ${site} was changed`,
  lines: [
    `The password of your account at ${site} was changed. The sessions that were open before have ended.`,
  ],
}))
