import type { Knex } from 'knex'
import { unknownNetwork } from '../../http/limits/client-address.js'
import type { Caller } from '../../http/security/caller.js'
import { hashSecret } from '../../kernel/ids.js'
import type { Config } from '../../platform/config/config.js'
import { databaseTime } from '../../platform/database/base-model.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { type Account, lockUser } from '../account.js'
import { voidFactors } from '../factors/change-factors.js'
import { verifySignIn } from '../factors/check-factor.js'
import type { FactorOutcome } from '../factors/factor-rules.js'
import { User } from '../models.js'
import { notifyOwner } from '../notify-owner.js'
import { voidCredentials, voidOthers } from '../void-credentials.js'
import { emailProvenNotice, type VoidReason } from './mails.js'
import { rememberProven } from './take-address.js'

/** How somebody has shown that they read the mail of an account. */
export interface MailProof {
  readonly network: string
  /** The account's session that the request carries, by its cookie or its access token. */
  readonly carried: Buffer | undefined
  /** Nothing that was there before the first proof stays, but what is carried (GUARDS=recommended). */
  readonly endsAll: boolean
  /** They say that what was set up before is somebody else's. */
  readonly notMine?: boolean | undefined
}

/** Who proves the e-mail. */
export type Prover = Pick<Caller, 'network' | 'presentedToken' | 'accessToken'>

/** Reads what a request that proves the e-mail of this account shows besides. */
export async function readProof(
  trx: Knex.Transaction,
  { guards }: Pick<Config, 'guards'>,
  { id, emailVerifiedAt }: Pick<User, 'id' | 'emailVerifiedAt'>,
  { network, presentedToken, accessToken }: Prover,
): Promise<MailProof> {
  const endsAll = guards === 'recommended'
  if (emailVerifiedAt !== null) return { network, carried: undefined, endsAll }
  const hashes = [presentedToken, accessToken].map((token) =>
    token === undefined ? null : hashSecret(token),
  )
  const [carried] = await query<{ hash: Buffer }>(trx, {
    name: 'proof.carried',
    text: /* sql */ `
      select token_hash as hash from sessions 
       where user_id = $1 and token_hash = $2 and idle_until > now() and absolute_until > now()
      union all
      select session_hash from access_tokens where user_id = $1 and token_hash = $3 and expires_at > clock_timestamp()`,
    values: [id, ...hashes],
  })
  return { network, carried: carried?.hash, endsAll }
}

/**
 * Anyone can register another person's address, so what was set up before the first proof is not the owner's for sure: not when
 * the proof comes from another network than the registration, nor when the owner says so. A network that was not recorded counts
 * as the same, one that may be a proxy's as none. Who carries a session of the account set it up, from an unknown network or where only
 * that counts. Undefined: it stays.
 */
export function voidReason(
  { emailVerifiedAt, registeredNetwork }: Pick<User, 'emailVerifiedAt' | 'registeredNetwork'>,
  { network, notMine, carried, endsAll }: MailProof,
): VoidReason | undefined {
  if (emailVerifiedAt !== null) return undefined
  if (endsAll || network === unknownNetwork || registeredNetwork === unknownNetwork) {
    if (carried === undefined) return 'unproven'
  } else if (registeredNetwork !== null && registeredNetwork !== network) return 'elsewhere'
  return notMine === true ? 'not-mine' : undefined
}

/**
 * Marks the e-mail of an account as verified, because the caller has read a mail to it. The first proof may void the credentials
 * made before (`voidReason`).
 */
export async function proveEmail<Owner extends { readonly id: string; readonly email: string }>(
  uow: UnitOfWork,
  config: Pick<Config, 'http' | 'dataKeys'>,
  owner: Owner,
  proof: MailProof,
): Promise<Owner & { readonly emailVerifiedAt: Date }> {
  const user = await lockUser(uow.trx, owner.id)
  if (user.emailVerifiedAt !== null) return { ...owner, emailVerifiedAt: user.emailVerifiedAt }
  const emailVerifiedAt = await markVerified(uow, owner.id)
  await rememberProven(uow.trx, config, user.id, user.email)
  await endFirstProof(uow, config.http.publicUrl, user, proof)
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
  const othersEnded = reason === undefined && proof.endsAll
  if (othersEnded) await voidOthers(uow.trx, user.id, proof.carried)
  await notifyOwner(uow, publicUrl, user.id, emailProvenNotice(reason, othersEnded))
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

/**
 * The second factor of a sign-in that proves the mailbox. A first proof that voids what was set up before voids the factors first:
 * whoever registered the e-mail of somebody else may have added them.
 */
export async function verifySignInByMail(
  uow: UnitOfWork,
  config: Services['config'],
  { id, emailVerifiedAt }: Account,
  { totp, ...proof }: MailProof & { readonly totp: string | undefined },
): Promise<FactorOutcome> {
  const user = emailVerifiedAt === null ? await User.query(uow.trx).findById(id) : undefined
  if (user !== undefined && voidReason(user, proof) !== undefined) await voidFactors(uow.trx, id)
  return verifySignIn(uow, config, id, totp)
}
