import { notifyOwner } from '../../accounts/owner-mails/notify-owner.js'
import { quoteInMail } from '../../accounts/owner-mails/quote.js'
import { displayText, nairaText, usdcText } from '../../kernel/money.js'
import { emailLayout } from '../../mail/layout.js'
import { type EmailContent, queueEmail } from '../../mail/queue-email.js'
import type { Config } from '../../platform/config/config.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { LockedIntent } from '../settlement/lock-intent.js'
import type { TipRefund } from './refund.js'

/** Mails the creator what happened to a refund, in the transaction in which it happens. */
export async function mailRefund(
  uow: UnitOfWork,
  { http }: Pick<Config, 'http'>,
  parts: readonly TipRefund[],
  event: 'requested' | 'paid' | 'failed',
): Promise<void> {
  const [first] = parts
  if (first === undefined) return
  const sum = (amount: (part: TipRefund) => bigint): bigint =>
    parts.reduce((total, part) => total + amount(part), 0n)
  const refund = {
    tipId: first.intentId,
    amount: `USD ${displayText(
      sum(({ amountCents }) => amountCents),
      2,
    )}`,
    naira: nairaText(sum(({ kobo }) => kobo)),
    debit: usdcText(sum(({ debitMicro }) => debitMicro)),
  }
  const notice =
    event === 'failed'
      ? ({ kind: 'refund-failed', refund, reason: first.failureReason ?? '' } as const)
      : ({ kind: `refund-${event}`, refund } as const)
  await notifyOwner(uow, http.publicUrl, first.userId, notice)
}

/** Tells a payer who gave an address that the money is on its way back. */
export async function mailPayer(
  uow: UnitOfWork,
  { receiptTo, creatorName }: Pick<LockedIntent, 'receiptTo' | 'creatorName'>,
  refund: Pick<TipRefund, 'intentId' | 'kobo' | 'paidAt'>,
): Promise<void> {
  if (receiptTo !== null)
    await queueEmail(uow, { kind: 'refund', to: receiptTo, ...refundNotice(creatorName, refund) })
}

/** As the receipt: the creator's name is the only text that a user chose, and it is cut. */
function refundNotice(
  creatorName: string,
  { intentId, kobo, paidAt }: Pick<TipRefund, 'intentId' | 'kobo' | 'paidAt'>,
): EmailContent {
  return emailLayout({
    subject: `${nairaText(kobo)} of your tip come back to you`,
    blocks: [
      `You gave a tip to "${quoteInMail(creatorName)}" on ${paidAt.toISOString().slice(0, 10)}, and they gave this back:`,
      { standout: nairaText(kobo) },
      'It goes to the card or the bank account that you paid with. Banks need some days to show it. If you do not see it after ten working days, reply to this e-mail.',
      `The number of this payment is ${intentId}.`,
      'If you did not pay this, somebody entered your address by mistake; you need not do anything.',
    ],
  })
}
