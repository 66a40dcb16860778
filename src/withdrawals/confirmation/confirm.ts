import { checkFactor } from '../../accounts/factors/check-factor.js'
import { lockUserExceptSessions } from '../../accounts/lock-user.js'
import { cautionHours } from '../../accounts/recent-changes.js'
import { DomainError, inputError } from '../../kernel/errors.js'
import type { ExchangeRates } from '../../market/exchange-rates.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { neverSentStates } from '../lifecycle.js'
import { askIfOld } from '../never-sent.js'
import { releaseConfirmed } from '../review/verify-identity.js'
import type { ConfirmInput } from '../schemas.js'
import { awaitsConfirmation, failUnpaid, type LockedWithdrawal, lockWithdrawal } from '../withdrawal.js'
import { mailWithdrawalCode, tooManyWithdrawalCodes, useWithdrawalCode } from './code.js'
import { markPayeeConfirmed } from './payees.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact' | 'payouts'>

/** An own withdrawal, as its creator names it. */
export interface OwnWithdrawal {
  readonly userId: string
  readonly reference: string
}

/**
 * Confirms a withdrawal by its mailed code or by a second factor that is older than three days, and releases it unless it
 * still waits for the identity. One that is confirmed already stays as it is. Throws `withdrawal_not_found`, `invalid_code`,
 * and what `checkFactor` throws.
 */
export async function confirmWithdrawal(
  services: Needs,
  rates: Pick<ExchangeRates, 'refresh'>,
  own: OwnWithdrawal,
  { code, totp, passkey }: Pick<ConfirmInput, 'code' | 'totp' | 'passkey'>,
): Promise<void> {
  const found = await findOwn(services, own)
  if (found.isConfirmed) return
  // A factor is used up by its check, so nothing is checked for a withdrawal that needs none.
  if (!found.awaits) throw nothingToConfirm()
  // At its release it may be worth too little to send, and be given back.
  const asked = await askIfOld(services, [found.id])
  // A factor that a thief has just added confirms nothing.
  const byFactor = totp !== undefined || passkey !== undefined
  if (byFactor) await checkFactor(services, own.userId, { totp, passkey }, { olderThanHours: cautionHours })
  await rates.refresh()
  const confirmed = await services.transact(async (uow) => {
    const withdrawal = await lockOwn(uow, found.id)
    if (withdrawal.confirmedAt !== null) return true
    if (withdrawal.status !== 'pending') throw nothingToConfirm()
    if (!byFactor && !(await useWithdrawalCode(uow, services.config, withdrawal, code ?? ''))) return false
    await markConfirmed(uow, withdrawal)
    await releaseConfirmed(uow, services.config, withdrawal.id, asked)
    await markPayeeConfirmed(uow.trx, withdrawal.id)
    return true
  })
  // Throw after the commit: a throw inside the transaction would undo the count.
  if (!confirmed) throw new DomainError('invalid_code')
}

/**
 * Mails a new code for a withdrawal that waits for its confirmation. Throws `withdrawal_not_found`, `too_many_requests`.
 * Does nothing for one that waits for none.
 */
export async function resendCode(services: Needs, own: OwnWithdrawal): Promise<void> {
  const found = await findOwn(services, own)
  if (!found.awaits) return
  await services.transact(async (uow) => {
    await lockUserExceptSessions(uow.trx, own.userId)
    const withdrawal = await lockOwn(uow, found.id)
    if (withdrawal.status !== 'pending' || !awaitsConfirmation(withdrawal)) return
    if (await mailWithdrawalCode(uow, services.config, withdrawal)) return
    throw await tooManyWithdrawalCodes(uow, own.userId)
  })
}

/**
 * Fails a withdrawal that was certainly never sent, and gives its creator all of the money back. One that has failed stays as
 * it is: the money is back. Throws `withdrawal_not_found`, `withdrawal_sent`, and `service_unavailable` or ProviderError while
 * nobody can say whether it was sent before a restore.
 */
export async function cancelWithdrawal(services: Needs, own: OwnWithdrawal): Promise<void> {
  const { id } = await findOwn(services, own)
  const asked = await askIfOld(services, [id])
  await services.transact(async (uow) => {
    const withdrawal = await lockOwn(uow, id)
    if (withdrawal.status === 'failed') return
    const isSent = withdrawal.status !== 'pending' || !neverSentStates.includes(withdrawal.sendState)
    if (isSent || asked.get(id) === true) throw new DomainError('withdrawal_sent')
    const event = { kind: 'withdrawal-cancelled' } as const
    await failUnpaid(uow, services.config, withdrawal, { reason: 'Cancelled by the creator', asked, event })
  })
}

interface FoundWithdrawal {
  readonly id: string
  readonly awaits: boolean
  readonly isConfirmed: boolean
}

async function findOwn({ db }: Needs, { userId, reference }: OwnWithdrawal): Promise<FoundWithdrawal> {
  const [found] = await query<FoundWithdrawal>(db, {
    name: 'confirmation.find',
    text: /* sql */ `
      select id, status = 'pending' and confirmation_reason is not null and confirmed_at is null as awaits,
        confirmed_at is not null as "isConfirmed"
      from withdrawals where user_id = $1 and reference = $2`,
    values: [userId, reference.toUpperCase()],
  })
  if (found === undefined) throw new DomainError('withdrawal_not_found')
  return found
}

async function lockOwn(uow: UnitOfWork, id: string): Promise<LockedWithdrawal> {
  const withdrawal = await lockWithdrawal(uow, id)
  if (withdrawal === undefined) throw new DomainError('withdrawal_not_found')
  return withdrawal
}

async function markConfirmed({ trx }: UnitOfWork, { id }: LockedWithdrawal): Promise<void> {
  await query(trx, {
    name: 'confirmation.mark',
    text: 'update withdrawals set confirmed_at = clock_timestamp() where id = $1',
    values: [id],
  })
}

function nothingToConfirm(): DomainError {
  return inputError('invalid_code', 'reference', 'is of a withdrawal that does not wait for a confirmation')
}
