import {
  type CodeTable,
  type ConfirmedSubject,
  createConfirmationCode,
  tooManyCodes,
  useConfirmationCode,
} from '../../accounts/one-time-codes/confirmation-code.js'
import { confirmationCodes } from '../../accounts/one-time-codes/one-time-code.js'
import { createNotMeLink, notMeBlocks } from '../../accounts/owner-mails/notify-owner.js'
import type { WithdrawalFacts } from '../../accounts/owner-mails/withdrawal-notices.js'
import { readRecentChanges } from '../../accounts/recent-changes.js'
import type { DomainError } from '../../kernel/errors.js'
import { maskAccount } from '../../kernel/text.js'
import { emailLayout } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import type { Config } from '../../platform/config/config.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { describeWithdrawal, type MailedWithdrawal } from '../mail-creator.js'
import type { ConfirmationReason } from '../withdrawal.js'

type Settings = Pick<Config, 'http' | 'otpPeppers'>

/** What a code confirms. */
export interface ConfirmedWithdrawal extends MailedWithdrawal {
  readonly id: string
  readonly debitMicro: bigint
  /** Null only of one that needs no code. */
  readonly accountHash: Buffer | null
  readonly confirmationReason: ConfirmationReason | null
}

const codes: CodeTable = { table: 'withdrawal_codes', subject: 'withdrawal_id' }

/** A code is another one for another amount, bank or account. */
function subjectOf(withdrawal: ConfirmedWithdrawal): ConfirmedSubject {
  const { id, userId, reference, debitMicro, netKobo, accountHash } = withdrawal
  const bound = ['withdrawal/1', reference, debitMicro, netKobo, accountHash?.toString('hex')].join('|')
  return { userId, subject: id, bound }
}

/**
 * Mails a new code, which replaces the one before. It goes to the address that codes for money go to. False: the account has
 * had too many codes in the last 24 hours. The caller makes sure that one account's codes are made one after the other.
 */
export async function mailWithdrawalCode(
  uow: UnitOfWork,
  settings: Settings,
  withdrawal: ConfirmedWithdrawal,
): Promise<boolean> {
  const made = await createConfirmationCode(uow, settings, codes, subjectOf(withdrawal))
  if (made === undefined) return false
  const { moneyEmail } = await readRecentChanges(uow.trx, withdrawal.userId)
  const described = await describeWithdrawal(uow, withdrawal)
  const notMe = await createNotMeLink(uow, settings.http.publicUrl, withdrawal.userId)
  await queueEmail(uow, {
    kind: 'withdrawal-code',
    to: moneyEmail,
    expiresAt: made.expiresAt,
    ...codeMail(settings, described, withdrawal.confirmationReason, { code: made.code, notMe }),
  })
  return true
}

/** The refusal of another code. It says when the account may have one. */
export function tooManyWithdrawalCodes(uow: UnitOfWork, userId: string): Promise<DomainError> {
  return tooManyCodes(uow, codes, userId)
}

const reasons: Readonly<Record<ConfirmationReason, string>> = {
  new_account: 'No withdrawal of yours has gone to this account before.',
  recent_change: 'Your e-mail address or a second factor was changed in the last three days.',
  new_client: 'It was asked for on a device and from a network that you have not withdrawn from before.',
}

/** It does not contain the name of the account's holder, which whoever asks for the withdrawal chooses. */
function codeMail(
  { http }: Settings,
  { amount, bank, lastFour, reference }: WithdrawalFacts,
  confirmationReason: ConfirmationReason | null,
  { code, notMe }: { readonly code: string; readonly notMe: string },
) {
  const site = new URL(http.publicUrl).host
  return emailLayout({
    subject: `Confirm your withdrawal from ${site}`,
    blocks: [
      `Somebody, most likely you, wants to withdraw ${amount} from ${site} to ${bank} ${maskAccount(lastFour)}. Its reference is ${reference}.`,
      `${confirmationReason === null ? '' : `${reasons[confirmationReason]} `}So nothing is sent before you confirm it. If you want exactly this, enter this code there:`,
      { standout: code },
      `It is valid for ${confirmationCodes.minutes} minutes and works once; the page mails you a new one. Never give it to anybody: we never ask for it.`,
      'If it was not you, enter the code nowhere: nothing leaves without it.',
      ...notMeBlocks(notMe),
    ],
  })
}

/** Uses the newest code of a withdrawal up, as `useConfirmationCode`. The caller holds the withdrawal's lock. */
export function useWithdrawalCode(
  uow: UnitOfWork,
  settings: Settings,
  withdrawal: ConfirmedWithdrawal,
  code: string,
): Promise<boolean> {
  return useConfirmationCode(uow, settings, codes, subjectOf(withdrawal), code)
}
