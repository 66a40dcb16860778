import { createHmac, timingSafeEqual } from 'node:crypto'
import { mailConfirmationCode } from '../../accounts/notify-owner.js'
import { type Confirmed, tooManyCodes, useConfirmationCode } from '../../accounts/secrets/codes.js'
import { linkUrl, purposes } from '../../accounts/secrets/secrets.js'
import type { DomainError } from '../../kernel/errors.js'
import { maskAccount } from '../../kernel/text.js'
import type { EmailContent } from '../../mail/layout.js'
import type { Config } from '../../platform/config/config.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { describeWithdrawal, type MailedWithdrawal, type WithdrawalFacts } from '../mails.js'
import type { ConfirmationReason } from '../withdrawal.js'

type Settings = Pick<Config, 'http' | 'otpPeppers'>

export interface ConfirmedWithdrawal extends MailedWithdrawal {
  readonly id: string
  readonly debitMicro: bigint
  /** Null only of one that needs no code. */
  readonly accountHash: Buffer
  readonly confirmationReason: ConfirmationReason | null
}

/** A hyphen and an HMAC in base64url, after the reference. */
const tailLength = 44

/** A code is another one for another amount, bank or account. */
function confirmedBy(withdrawal: ConfirmedWithdrawal): Confirmed {
  const { id, userId, reference, debitMicro, netKobo, accountHash } = withdrawal
  const bound = ['withdrawal/1', reference, debitMicro, netKobo, accountHash?.toString('hex')].join('|')
  return { purpose: 'withdrawal', userId, subject: id, bound }
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
  const described = describeWithdrawal(withdrawal)
  const token = linkToken(settings.otpPeppers[0], withdrawal)
  const link = linkUrl(settings.http.publicUrl, 'confirm-withdrawal', token)
  return mailConfirmationCode(uow, settings, confirmedBy(withdrawal), 'withdrawal-code', (code) =>
    codeMail(settings, described, withdrawal.confirmationReason, { code, link }),
  )
}

/** Of the mail's link. Nothing of it is stored: it confirms as long as its withdrawal waits for that, whoever is signed in. */
function linkToken(pepper: Uint8Array, withdrawal: ConfirmedWithdrawal): string {
  const { bound } = confirmedBy(withdrawal)
  const mac = createHmac('sha256', pepper).update(`link|${bound}`).digest('base64url')
  return `${withdrawal.reference}-${mac}`
}

export function referenceIn(token: string): string {
  return token.slice(0, -tailLength)
}

/** Whether a token is of the link that was mailed for this withdrawal. */
export function isLinkOf({ otpPeppers }: Settings, withdrawal: ConfirmedWithdrawal, token: string): boolean {
  const presented = Buffer.from(token)
  return otpPeppers.some((pepper) => {
    const right = Buffer.from(linkToken(pepper, withdrawal))
    return right.length === presented.length && timingSafeEqual(right, presented)
  })
}

/** The refusal of another code. It says when the account may have one. */
export function tooManyWithdrawalCodes(uow: UnitOfWork, userId: string): Promise<DomainError> {
  return tooManyCodes(uow, 'withdrawal', userId)
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
  { code, link }: { readonly code: string; readonly link: string },
): EmailContent {
  const site = new URL(http.publicUrl).host
  return {
    subject: `Confirm your withdrawal from ${site}`,
    blocks: [
      `Somebody, most likely you, wants to withdraw ${amount} from ${site} to ${bank} ${maskAccount(lastFour)}. Its reference is ${reference}.`,
      `${confirmationReason === null ? '' : `${reasons[confirmationReason]} `}So nothing is sent before you confirm it. If you want exactly this, open this page and press its button; you need not be signed in:`,
      { link, label: 'Confirm this withdrawal' },
      'Or enter this code where you asked for it:',
      { standout: code },
      `It is valid for ${purposes.withdrawal.minutes} minutes and works once; the page mails you a new one. Never give it to anybody: we never ask for it.`,
      'If it was not you, use neither: nothing leaves without them.',
    ],
  }
}

/** Uses the newest code of a withdrawal up, as `useConfirmationCode`. The caller holds the withdrawal's lock. */
export function useWithdrawalCode(
  uow: UnitOfWork,
  settings: Settings,
  withdrawal: ConfirmedWithdrawal,
  code: string,
): Promise<boolean> {
  return useConfirmationCode(uow, settings, confirmedBy(withdrawal), code)
}
