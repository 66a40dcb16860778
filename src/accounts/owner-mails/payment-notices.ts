import type { EmailFact } from '../../mail/layout.js'
import { type NoticeText, nothingToDo } from './notice-text.js'
import { quoteInMail } from './quote.js'

/** What the owner is told about naira payments that go back to their payers. */
export type PaymentNotice = RefundNotice | ReturnNotice

type RefundNotice =
  | { readonly kind: 'refund-requested' | 'refund-paid'; readonly refund: RefundFacts }
  | { readonly kind: 'refund-failed'; readonly refund: RefundFacts; readonly reason: string }

/** The payer, the bank or the provider takes the payment back. */
interface ReturnNotice {
  readonly kind: 'dispute-opened' | 'dispute-won' | 'dispute-lost' | 'payment-returned'
  readonly payment: PaymentFacts
}

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

/** Naira of a tip that its payer has back, or wants back. Amounts as text, such as `NGN 12,500.00` and `USDC 7.5`. */
export interface PaymentFacts {
  readonly tipId: string
  readonly naira: string
  /** What it is of the balance. */
  readonly usdc: string
  /** What the balance did not have. Undefined: nothing. */
  readonly owed: string | undefined
}

/** The words of a notice about a payment. */
export function describePaymentNotice(notice: PaymentNotice, site: string): NoticeText {
  return 'refund' in notice ? refundText(notice, site) : returnText(notice, site)
}

function refundText(notice: RefundNotice, site: string): NoticeText {
  const { tipId, amount, naira, debit } = notice.refund
  const facts: EmailFact[] = [
    ['Of the tip', amount],
    ['Payer gets', naira],
    ['Of your balance', debit],
    ['Tip', tipId],
  ]
  if (notice.kind === 'refund-failed')
    return {
      subject: `A tip could not be given back at ${site}`,
      lines: [
        `The refund that you asked for at ${site} did not reach the payer. The money is back in your balance.`,
      ],
      facts: [...facts, ['Reason', quoteInMail(notice.reason)]],
      advice: ['You can try again. If it fails again, reply to this e-mail with the number of the tip.'],
      security: false,
    }
  const requested = notice.kind === 'refund-requested'
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

function returnText({ kind, payment }: ReturnNotice, site: string): NoticeText {
  const facts: EmailFact[] = [
    ['Payment', payment.naira],
    [kind === 'dispute-opened' ? 'Held' : 'Of your balance', payment.usdc],
    ...(payment.owed === undefined ? [] : [['Not covered yet', payment.owed] as const]),
    ['Tip', payment.tipId],
  ]
  const owing =
    payment.owed === undefined
      ? []
      : [
          'Your balance did not have all of it. The rest is taken from tips that arrive from now on, and withdrawals that are not sent yet wait until then. You can cancel them.',
        ]
  const dispute = 'the payer of a tip to you told their bank that they want the money back'
  if (kind === 'dispute-opened')
    return {
      subject: `A payment to you at ${site} is disputed`,
      lines: [
        `At ${site}, ${dispute}. We answer the bank, which decides. Until then we hold what the tip credited, up to what your balance has.`,
      ],
      facts,
      advice: [
        'If you know the payer, or gave something for this tip, reply to this e-mail soon and say so: we have less than a day to answer.',
      ],
      security: false,
    }
  if (kind === 'dispute-won')
    return {
      subject: `A payment to you at ${site} stays yours`,
      lines: [
        `At ${site}, ${dispute}. The bank has decided that it stays yours. What we held is in your balance again.`,
      ],
      facts,
      advice: ['You need not do anything.'],
      security: false,
    }
  return {
    subject: `A payment to you at ${site} went back to its payer`,
    lines: [
      kind === 'dispute-lost'
        ? `At ${site}, ${dispute}, and the bank has given it back. What the tip credited is taken from your balance, and we give up our fee of it.`
        : `At ${site}, a payment for a tip to you went back to its payer. What the tip credited is taken from your balance, and we give up our fee of it.`,
      ...owing,
    ],
    facts,
    advice: ['If you think that this is wrong, reply to this e-mail with the number of the tip.'],
    security: false,
  }
}
