import { hash } from 'node:crypto'
import type { Config } from '../../platform/config/config.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { lockUserExceptSessions } from '../account.js'
import { mailConfirmationCode } from '../notify-owner.js'
import { type Confirmed, tooManyCodes, useConfirmationCode } from '../secrets/codes.js'
import { purposes } from '../secrets/secrets.js'

type Settings = Pick<Config, 'http' | 'otpPeppers'>

/** What a code confirms: exactly this request of this account. */
export interface SteppedUpRequest {
  readonly userId: string
  /** All that decides what the request does. A code of one text does not confirm another. */
  readonly bound: readonly (string | bigint)[]
  /** What the mail says somebody wants to do: "pay your tips to the wallet …". */
  readonly wish: string
}

function confirmedBy({ userId, bound }: SteppedUpRequest): Confirmed {
  const text = JSON.stringify([userId, ...bound.map(String)])
  return { purpose: 'step_up', userId, subject: hash('sha256', text), bound: `step-up/1|${text}` }
}

/**
 * Mails a code for a request, which replaces the one before for the same request. It goes to the address that codes for money
 * go to. Throws `too_many_requests` after ten codes in 24 hours.
 */
export async function mailStepUpCode(
  uow: UnitOfWork,
  settings: Settings,
  request: SteppedUpRequest,
): Promise<void> {
  const { userId, wish } = request
  // One account's codes are made one after the other, so that none is missed in the count.
  await lockUserExceptSessions(uow.trx, userId)
  const site = new URL(settings.http.publicUrl).host
  const mailed = await mailConfirmationCode(uow, settings, confirmedBy(request), 'step-up-code', (code) => ({
    subject: `Confirm a change of your account at ${site}`,
    blocks: [
      `Somebody, most likely you, wants to ${wish}.`,
      'Nothing happens before you confirm it. If you want exactly this, enter this code there:',
      { standout: code },
      `It is valid for ${purposes.step_up.minutes} minutes and works once. Never give it to anybody: we never ask for it.`,
      'If it was not you, enter the code nowhere: somebody else is signed in to your account.',
    ],
  }))
  if (!mailed) throw await tooManyCodes(uow, 'step_up', userId)
}

/** Uses the newest code of a request up, as `useConfirmationCode`. */
export function useStepUpCode(
  uow: UnitOfWork,
  settings: Settings,
  request: SteppedUpRequest,
  code: string,
): Promise<boolean> {
  return useConfirmationCode(uow, settings, confirmedBy(request), code)
}
