import { setTimeout as pause } from 'node:timers/promises'
import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { lockUser } from '../account.js'
import { type Prover, proveEmail, readProof, voidReason } from '../emails/prove-email.js'
import { User } from '../models.js'
import { notifyOwner, type Origin } from '../notify-owner.js'
import type { Passwords } from '../password.js'
import { hasFactor } from '../protection.js'
import { mailResetLink } from '../secrets/reset-link.js'
import { findLink, useLink, voidSecrets } from '../secrets/secrets.js'
import { endSessions } from '../sessions/end-sessions.js'
import { passwordNotice } from './change-password.js'
import { assertUncommon } from './common-passwords.js'

/** An unused link that is younger keeps another one from being mailed. */
const pauseMinutes = 1
/** No answer comes sooner, so that the time does not tell whether there is an account: writing a link takes a tenth of it. */
const answerMs = 250

/**
 * Mails a link for a new password, if there is an account with this address. The caller learns neither from the answer nor
 * from its time.
 */
export async function requestReset(
  { config, transact }: Pick<Services, 'config' | 'transact'>,
  email: string,
): Promise<void> {
  const mailed = transact(async (uow) => {
    const user = await User.query(uow.trx).findOne({ email }).forUpdate()
    if (user !== undefined && !(await wasMailed(uow.trx, user.id)))
      await mailResetLink(uow, config.http.publicUrl, user)
  })
  await Promise.all([mailed, pause(answerMs)])
}

async function wasMailed(trx: Knex.Transaction, userId: string): Promise<boolean> {
  const [row] = await query<{ recent: boolean }>(trx, {
    name: 'passwords.reset-mailed',
    text: /* sql */ `
      select exists (
        select from one_time_secrets
         where user_id = $1 and purpose = 'password_reset' and used_at is null
           and created_at > clock_timestamp() - $2::int * interval '1 minute') as recent`,
    values: [userId, pauseMinutes],
  })
  return row?.recent === true
}

type Needs = Pick<Services, 'config' | 'db' | 'transact'> & { readonly passwords: Passwords }

/**
 * Sets a new password with a mailed link. Every session ends and none is opened. It proves the e-mail; the first proof from another
 * network voids second factors, else they stay. It is no first proof from the same network while a factor is on: a sign-in by mail
 * shows whose that is, with the factor or without it.
 * A refused password leaves the link good. Throws `invalid_link`, `common_password`.
 */
export async function resetPassword(
  { config, db, transact, passwords }: Needs,
  { token, newPassword }: { readonly token: string; readonly newPassword: string },
  caller: Origin & Prover,
): Promise<void> {
  const { publicUrl } = config.http
  // Saves the costly hash for an unknown link. `useLink` decides: another request may use it in between.
  const { userId } = await findLink(db, 'password_reset', token)
  const owner = await User.query(db).findById(userId).throwIfNotFound()
  await assertUncommon(config, newPassword, owner)
  const passwordHash = await passwords.hash(newPassword)
  await transact(async (uow) => {
    const user = await lockUser(uow.trx, userId)
    const { id, email } = user
    await useLink(uow.trx, 'password_reset', token)
    const proof = await readProof(uow.trx, config, user, caller)
    if (voidReason(user, proof) !== undefined || !(await hasFactor(uow.trx, id)))
      await proveEmail(uow, config, { id, email }, proof)
    await User.query(uow.trx).findById(id).patch({ passwordHash })
    await voidSecrets(uow.trx, id, ['password_reset', 'email_change'])
    await endSessions(uow.trx, id)
    await notifyOwner(uow, publicUrl, id, passwordNotice, caller)
  })
}
