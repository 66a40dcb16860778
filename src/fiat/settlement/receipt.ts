import { quoteInMail } from '../../accounts/owner-mails/quote.js'
import { nairaText } from '../../kernel/money.js'
import { emailLayout } from '../../mail/layout.js'
import type { EmailContent } from '../../mail/queue-email.js'
import type { Payment } from '../../ports/collections.js'
import type { LockedIntent } from './lock-intent.js'

type Named = Pick<LockedIntent, 'id' | 'creatorName' | 'price'>

/**
 * The receipt of a completed fiat tip. The creator's name is the only text that a user chose. It is cut and has no links, because for
 * NGN 100 anyone can have this mail with a creator name of their own sent to any address.
 */
export function receipt({ id, creatorName, price }: Named, { kobo, paidAt }: Payment): EmailContent {
  const { chargeKobo } = price
  const given = nairaText(kobo < chargeKobo ? kobo : chargeKobo)
  const surplus =
    kobo > chargeKobo
      ? [
          `You paid ${nairaText(kobo)}, and ${given} were asked for. The tip is ${given}; the other ${nairaText(kobo - chargeKobo)} wait for you. Reply to this e-mail to have them back, or to give them to the creator too.`,
        ]
      : []
  return emailLayout({
    subject: `Your tip of ${given}`,
    blocks: [
      `Thank you. Your payment for a tip to "${quoteInMail(creatorName)}" has arrived:`,
      { standout: given },
      ...surplus,
      `It was paid on ${paidAt.toISOString().slice(0, 10)}. The number of this payment is ${id}.`,
      'If you did not pay this, somebody entered your address by mistake; you need not do anything.',
    ],
  })
}

/** For the payer of too little: what happened, and what to do. */
export function shortPaymentNotice(
  { id, creatorName, price }: Named,
  { kobo, paidAt }: Payment,
): EmailContent {
  return emailLayout({
    subject: `Your payment of ${nairaText(kobo)} is less than the tip`,
    blocks: [
      `For a tip to "${quoteInMail(creatorName)}" ${nairaText(price.chargeKobo)} were asked for, and on ${paidAt.toISOString().slice(0, 10)} this arrived:`,
      { standout: nairaText(kobo) },
      'The tip was not given, and your money is not lost. Reply to this e-mail and say which you want: your money back, or that the creator gets what you paid. You can also make a new tip, which is paid in full.',
      `The number of this payment is ${id}.`,
      'If you did not pay this, somebody entered your address by mistake; you need not do anything.',
    ],
  })
}
