import { z } from 'zod'
import { DomainError, inputError } from '../../kernel/errors.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { lockUserExceptSessions } from '../account.js'
import { checkFactor, type PresentedFactor, presentsFactor } from '../factors/check-factor.js'
import { cautionHours, readRecentChanges } from '../protection.js'
import { presentedFields } from './reauthenticate.js'
import { mailStepUpCode, type SteppedUpRequest, useStepUpCode } from './step-up-code.js'

/** The fields of a request that needs a step-up. */
export const stepUpFields = {
  code: z.string('invalid_code').max(100, 'invalid_code').optional(),
  ...presentedFields,
}

export interface PresentedStepUp extends PresentedFactor {
  /** The code that was mailed for exactly this request. */
  readonly code?: string | undefined
}

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/**
 * Does in one transaction what a session alone may not do: with the code that was mailed for exactly this request, or with a
 * second factor older than 72 hours. After a change of the e-mail or of a factor only the code counts for 72 hours. With neither
 * a code is mailed. Throws `step_up_required`, `invalid_code`, `too_many_requests`, and what `checkFactor` throws.
 */
export async function withStepUp<Result>(
  services: Needs,
  request: SteppedUpRequest,
  { code, ...factor }: PresentedStepUp,
  work: (uow: UnitOfWork) => Promise<Result>,
): Promise<Result> {
  const { config, transact } = services
  const { userId } = request
  if (presentsFactor(factor)) {
    await checkOldFactor(services, userId, factor)
    return transact(async (uow) => {
      await lockUserExceptSessions(uow.trx, userId)
      return work(uow)
    })
  }
  if (code === undefined) {
    await transact((uow) => mailStepUpCode(uow, config, request))
    throw new DomainError('step_up_required')
  }
  const done = await transact(async (uow) => {
    await lockUserExceptSessions(uow.trx, userId)
    const isRight = await useStepUpCode(uow, config, request, code)
    return isRight ? { result: await work(uow) } : undefined
  })
  // Thrown after the commit: a throw inside the transaction would undo the count.
  if (done === undefined) throw new DomainError('invalid_code')
  return done.result
}

async function checkOldFactor(services: Needs, userId: string, factor: PresentedFactor): Promise<void> {
  const { changed } = await readRecentChanges(services.db, userId)
  if (changed)
    throw inputError(
      'invalid_code',
      factor.totp === undefined ? 'passkey' : 'totp',
      `does not count within ${cautionHours} hours of a change of the e-mail or of a second factor: leave it out, and a code is mailed`,
    )
  await checkFactor(services, userId, factor, { olderThanHours: cautionHours })
}
