import { lockUserExceptSessions, shareUnfrozen } from '../../accounts/account.js'
import { checkFactor } from '../../accounts/factors/check-factor.js'
import { cautionHours } from '../../accounts/protection.js'
import { DomainError, inputError } from '../../kernel/errors.js'
import type { ExchangeRates } from '../../market/exchange-rates.js'
import { neverSentStates } from '../../outgoing/lifecycle.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import type { ConfirmInput } from '../schemas.js'
import { awaitsConfirmation, type LockedWithdrawal, lockWithdrawal } from '../withdrawal.js'
import { askIfOld, failUnpaid } from '../withdrawal-kind.js'
import {
  isLinkOf,
  mailWithdrawalCode,
  referenceIn,
  tooManyWithdrawalCodes,
  useWithdrawalCode,
} from './code.js'
import { markPayeeConfirmed } from './payees.js'
import { releaseConfirmed } from './release.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact' | 'payouts'>

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
  // A factor that a thief has just added confirms nothing.
  const byFactor = totp !== undefined || passkey !== undefined
  if (byFactor) await checkFactor(services, own.userId, { totp, passkey }, { olderThanHours: cautionHours })
  const confirmed = await confirmLocked(
    services,
    rates,
    found.id,
    async (uow, withdrawal) => byFactor || useWithdrawalCode(uow, services.config, withdrawal, code ?? ''),
  )
  // Throw after the commit: a throw inside the transaction would undo the count.
  if (!confirmed) throw new DomainError('invalid_code')
}

/**
 * Confirms a withdrawal by the link of its mail alone, as `confirmWithdrawal`. Throws `invalid_link`, also for one that waits for
 * nothing any more, and `account_frozen`.
 */
export async function confirmByLink(
  services: Needs,
  rates: Pick<ExchangeRates, 'refresh'>,
  token: string,
): Promise<void> {
  const found = await findByReference(services, referenceIn(token))
  if (found?.isFrozen === true) throw new DomainError('account_frozen')
  if (found?.isConfirmed === true) return
  const confirmed =
    found?.awaits === true &&
    (await confirmLocked(whileUnfrozen(services, found), rates, found.id, async (_, withdrawal) =>
      isLinkOf(services.config, withdrawal, token),
    ))
  if (!confirmed) throw new DomainError('invalid_link')
}

/** The services of a link. While they do something in a transaction its account is not frozen. Throws `account_frozen`. */
function whileUnfrozen(services: Needs, { userId }: FoundWithdrawal): Needs {
  return {
    ...services,
    transact: (work) =>
      services.transact(async (uow) => {
        await shareUnfrozen(uow.trx, userId)
        return work(uow)
      }),
  }
}

/** Releases a withdrawal when `proves` says that its creator wants it. False: it does not. */
async function confirmLocked(
  services: Needs,
  rates: Pick<ExchangeRates, 'refresh'>,
  id: string,
  proves: (uow: UnitOfWork, withdrawal: LockedWithdrawal) => Promise<boolean>,
): Promise<boolean> {
  // At its release it may be worth too little to send, and be given back.
  const asked = await askIfOld(services, [id])
  await rates.refresh()
  return services.transact(async (uow) => {
    const withdrawal = await lockOwn(uow, id)
    if (withdrawal.confirmedAt !== null) return true
    if (withdrawal.status !== 'pending') throw nothingToConfirm()
    if (!(await proves(uow, withdrawal))) return false
    await markConfirmed(uow, withdrawal)
    await releaseConfirmed(uow, services.config, withdrawal.id, asked)
    await markPayeeConfirmed(uow.trx, withdrawal.id)
    return true
  })
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
  readonly userId: string
  readonly awaits: boolean
  readonly isConfirmed: boolean
  /** Nothing of its account is confirmed then. */
  readonly isFrozen: boolean
}

async function findOwn(services: Needs, { userId, reference }: OwnWithdrawal): Promise<FoundWithdrawal> {
  const found = await findByReference(services, reference.toUpperCase())
  if (found?.userId !== userId) throw new DomainError('withdrawal_not_found')
  return found
}

async function findByReference({ db }: Needs, reference: string): Promise<FoundWithdrawal | undefined> {
  const [found] = await query<FoundWithdrawal>(db, {
    name: 'confirmation.find',
    text: /* sql */ `
      select w.id, w.user_id as "userId", w.status = 'pending' and confirmation_reason is not null and confirmed_at is null as awaits,
        confirmed_at is not null as "isConfirmed", u.frozen_at is not null as "isFrozen"
      from withdrawals w join users u on u.id = w.user_id where w.reference = $1`,
    values: [reference],
  })
  return found
}

async function lockOwn(uow: UnitOfWork, id: string): Promise<LockedWithdrawal> {
  const withdrawal = await lockWithdrawal(uow, id)
  if (withdrawal === undefined) throw new DomainError('withdrawal_not_found')
  return withdrawal
}

async function markConfirmed({ trx }: UnitOfWork, { id }: LockedWithdrawal): Promise<void> {
  await write(trx, {
    name: 'confirmation.mark',
    text: 'update withdrawals set confirmed_at = clock_timestamp() where id = $1',
    values: [id],
  })
}

function nothingToConfirm(): DomainError {
  return inputError('invalid_code', 'reference', 'is of a withdrawal that does not wait for a confirmation')
}
