import type { Knex } from 'knex'
import { DomainError, refusedFor } from '../../kernel/errors.js'
import { queueEmail } from '../../mail/queue-email.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { lockUser } from '../account.js'
import { User } from '../models.js'
import { notifyAddress, notifyOwner } from '../notify-owner.js'
import type { Passwords } from '../password.js'
import { cautionHours } from '../protection.js'
import {
  createToken,
  findLink,
  linkUrl,
  purposes,
  secondsToNext,
  useLink,
  voidSecrets,
} from '../secrets/secrets.js'
import type { SignedIn } from '../sessions/session.js'
import { assertStillOwner, type Presented, reauthenticateTwice } from '../step-up/reauthenticate.js'
import { changeRequestedNotice, confirmEmailMail, emailChangedNotice, undoEmailMail } from './mails.js'
import { endFirstProof, type Prover, readProof } from './prove-email.js'
import { assertNotReserved, takeAddress } from './take-address.js'

/** In 15 minutes to one address, of all accounts. One account, whose holder chooses the addresses, gets no more either. */
const mostMails = 5
const windowMinutes = 15

type Needs = Pick<Services, 'config' | 'db' | 'transact'> & { readonly passwords: Passwords }

/**
 * Mails a link to a new address; the account has it once the link is used. The current address is told. An earlier link for
 * another address is void. An address that got many links lately gets none. Throws what `reauthenticateTwice` throws,
 * `email_in_use`, and `too_many_requests`.
 */
export async function requestEmailChange(
  services: Needs,
  signedIn: SignedIn,
  { email, ...presented }: Presented & { readonly email: string },
): Promise<void> {
  const { publicUrl } = services.config.http
  const proof = await reauthenticateTwice(services, signedIn, presented)
  await services.transact(async (uow) => {
    const owner = await assertStillOwner(uow.trx, signedIn, proof)
    await assertFree(uow.trx, email, owner.id)
    // Only requests with the right proof are counted: a stolen cookie does not use them up.
    const seconds = await secondsToNext(uow.trx, 'email_change', owner.id)
    if (seconds > 0) throw refusedFor('too_many_requests', seconds)
    await voidSecrets(uow.trx, owner.id, ['email_change'])
    await notifyOwner(uow, publicUrl, owner.id, changeRequestedNotice(email))
    // Answered like a success: the caller may be of another account, and learns nothing about the address.
    if (await wasMailedOften(uow.trx, email)) return
    const { token, expiresAt } = await createToken(uow.trx, 'email_change', {
      userId: owner.id,
      content: email,
    })
    const content = confirmEmailMail({
      url: linkUrl(publicUrl, 'confirm-email', token),
      site: new URL(publicUrl).host,
      minutes: purposes.email_change.minutes,
    })
    await queueEmail(uow, { kind: 'email-change', to: email, expiresAt, ...content })
  })
}

/** Whether an address got so many links, of all accounts, that it gets no more for now. */
async function wasMailedOften(trx: Knex.Transaction, email: string): Promise<boolean> {
  const [row] = await query<{ mails: number }>(trx, {
    name: 'emails.change-mails',
    text: /* sql */ `
      select count(*)::int as mails from emails
       where recipient = $1 and kind = 'email-change' and created_at > clock_timestamp() - $2::int * interval '1 minute'`,
    values: [email, windowMinutes],
  })
  return (row?.mails ?? 0) >= mostMails
}

async function assertFree(trx: Knex.Transaction, email: string, userId: string): Promise<void> {
  if ((await User.query(trx).findOne({ email }).select('id')) !== undefined)
    throw new DomainError('email_in_use')
  await assertNotReserved(trx, email, userId)
}

/**
 * Gives the account the new address. The old one gets a link that undoes it (undo-email.ts) and stays reserved meanwhile.
 * Throws `invalid_link`, `email_in_use`, and `account_frozen`: a thief may have asked for the change before.
 */
export async function confirmEmailChange(
  { config, db, transact }: Pick<Services, 'config' | 'db' | 'transact'>,
  token: string,
  caller: Prover,
): Promise<void> {
  const { publicUrl } = config.http
  const { userId } = await findLink(db, 'email_change', token)
  await transact(async (uow) => {
    const before = await lockUser(uow.trx, userId)
    const { id, email: oldEmail } = before
    const { email } = await useLink(uow.trx, 'email_change', token)
    if (email === null) throw new Error('The link has no address')
    if (before.frozenAt !== null) throw new DomainError('account_frozen')
    await takeAddress(uow.trx, config, id, email)
    // Of the new address: the one before was never proven.
    if (before.emailVerifiedAt === null)
      await endFirstProof(uow, publicUrl, before, await readProof(uow.trx, config, before, caller))
    // Whoever reads the old address could still set a password.
    await voidSecrets(uow.trx, id, ['password_reset'])
    await mailUndo(uow, publicUrl, {
      id,
      oldEmail,
      oldProven: before.emailVerifiedAt !== null,
      newEmail: email,
    })
    await notifyAddress(uow, publicUrl, { userId: id, address: email }, emailChangedNotice(email))
  })
}

interface EmailChange {
  readonly id: string
  readonly oldEmail: string
  readonly oldProven: boolean
  readonly newEmail: string
}

/** Records the change, and mails the old address the link that undoes it. The record is older than its link. */
async function mailUndo(
  uow: UnitOfWork,
  publicUrl: string,
  { id, oldEmail, oldProven, newEmail }: EmailChange,
): Promise<void> {
  await write(uow.trx, {
    name: 'emails.change',
    text: /* sql */ `
      insert into email_changes (user_id, old_email, new_email, undo_until, old_proven)
      values ($1, $2, $3, clock_timestamp() + $4::int * interval '1 hour', $5)`,
    values: [id, oldEmail, newEmail, cautionHours, oldProven],
  })
  const { token, expiresAt } = await createToken(uow.trx, 'email_undo', { userId: id, content: oldEmail })
  const content = undoEmailMail({
    url: linkUrl(publicUrl, 'undo-email', token),
    site: new URL(publicUrl).host,
    newEmail: oldProven ? newEmail : undefined,
  })
  await queueEmail(uow, { kind: 'email-undo', to: oldEmail, expiresAt, ...content })
}
