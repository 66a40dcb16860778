import { type NoticeText, nothingToDo, notifyOwner, type OwnerNotice } from '../../accounts/notify-owner.js'
import { displayText, nairaText, usdcText } from '../../kernel/money.js'
import { lagosText, nairaSignText } from '../../kernel/payer-texts.js'
import { statusUrl } from '../../kernel/status-link.js'
import { type EmailContent, type EmailFact, quoteInMail } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import type { Config } from '../../platform/config/config.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { payerMailWords } from '../payer-mails/words.js'
import type { LockedIntent } from '../settlement/lock-intent.js'
import { amountOf } from './plan-refund.js'
import type { TipRefund } from './refund.js'

/** A naira tip that its creator gives back. Amounts as text. */
interface RefundFacts {
  readonly tipId: string
  /** Of the tip's amount, such as `USD 10`. */
  readonly amount: string
  /** What the payer gets, such as `NGN 15,200.00`. */
  readonly naira: string
  /** Of the balance, such as `9.5 USDC`. */
  readonly debit: string
}

export type RefundEvent =
  | { readonly kind: 'refund-requested' | 'refund-paid' }
  | { readonly kind: 'refund-failed'; readonly reason: string }

/** Mails the creator what happened to a refund, in the transaction in which it happens. */
export async function mailRefund(
  uow: UnitOfWork,
  { http }: Pick<Config, 'http'>,
  parts: readonly TipRefund[],
  event: 'requested' | 'paid' | 'failed',
): Promise<void> {
  const [first] = parts
  if (first === undefined) return
  const refund = {
    tipId: first.intentId,
    amount: `USD ${displayText(amountOf(parts, 'amountCents'), 2)}`,
    naira: nairaText(amountOf(parts, 'kobo')),
    debit: usdcText(amountOf(parts, 'debitMicro')),
  }
  const happened: RefundEvent =
    event === 'failed'
      ? { kind: 'refund-failed', reason: first.failureReason ?? '' }
      : { kind: `refund-${event}` }
  await notifyOwner(uow, http.publicUrl, first.userId, refundNotice(happened, refund))
}

export function refundNotice(event: RefundEvent, refund: RefundFacts): OwnerNotice {
  return { kind: event.kind, describe: (site) => describeRefund(event, refund, site) }
}

function describeRefund(
  event: RefundEvent,
  { tipId, amount, naira, debit }: RefundFacts,
  site: string,
): NoticeText {
  const facts: EmailFact[] = [
    ['Of the tip', amount],
    ['Payer gets', naira],
    ['Of your balance', debit],
    ['Tip', tipId],
  ]
  if (event.kind === 'refund-failed')
    return {
      subject: `A tip could not be given back at ${site}`,
      lines: [
        `The refund that you asked for at ${site} did not reach the payer. The money is back in your balance.`,
      ],
      facts: [...facts, ['Reason', quoteInMail(event.reason)]],
      advice: ['You can try again. If it fails again, reply to this e-mail with the number of the tip.'],
      security: false,
    }
  const requested = event.kind === 'refund-requested'
  return {
    subject: requested ? `You are giving a tip back at ${site}` : `A tip went back to its payer at ${site}`,
    lines: [
      requested
        ? `A tip to your account at ${site} is being given back to its payer. It goes only to where it came from.`
        : `The tip that you gave back at ${site} was sent to its payer, whose bank may need some days.`,
    ],
    facts,
    advice: [requested ? nothingToDo : 'You need not do anything.'],
    security: requested,
  }
}

type Payer = Pick<LockedIntent, 'receiptTo' | 'creatorName' | 'language' | 'statusKey'>

/** Tells a payer who gave an address that the money is on its way back. */
export async function mailPayer(
  uow: UnitOfWork,
  { http }: Pick<Config, 'http'>,
  payer: Payer,
  refund: Pick<TipRefund, 'intentId' | 'kobo' | 'paidAt'>,
): Promise<void> {
  const { receiptTo, statusKey } = payer
  if (receiptTo !== null)
    await queueEmail(uow, {
      kind: 'refund',
      to: receiptTo,
      ...payerMail(payer, refund, statusUrl(http.publicUrl, statusKey, refund.intentId)),
    })
}

/** As the receipt: the creator's name is the only text that a user chose, and it is cut. */
function payerMail(
  { creatorName, language }: Payer,
  { intentId, kobo, paidAt }: Pick<TipRefund, 'intentId' | 'kobo' | 'paidAt'>,
  link: string,
): EmailContent {
  const { number, seePayment, noMistake, refund: words } = payerMailWords[language]
  const back = nairaSignText(kobo, language)
  return {
    language,
    subject: words.subject(back),
    blocks: [
      words.lead(quoteInMail(creatorName), lagosText(paidAt, language)),
      { standout: back },
      words.more,
      number(intentId),
      { link, label: seePayment },
      noMistake,
    ],
  }
}
