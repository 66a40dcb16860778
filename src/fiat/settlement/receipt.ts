import { displayText } from '../../kernel/money.js'
import { cleanLine } from '../../kernel/text.js'
import { emailLayout } from '../../mail/layout.js'
import type { EmailContent } from '../../mail/queue-email.js'
import type { Payment } from '../../ports/collections.js'
import type { LockedIntent } from './lock-intent.js'

const nameLength = 60

/**
 * The receipt of a completed fiat tip. The creator's name is the only text that a user chose. It is cut, because for NGN 100
 * anyone can have this mail with a creator name of their own sent to any address.
 */
export function receipt(
  { id, creatorName }: Pick<LockedIntent, 'id' | 'creatorName'>,
  { kobo, paidAt }: Payment,
): EmailContent {
  const amount = `NGN ${withKobo(kobo)}`
  return emailLayout({
    subject: `Your tip of ${amount}`,
    blocks: [
      `Thank you. Your payment for a tip to "${cleanLine(creatorName, nameLength)}" has arrived:`,
      { standout: amount },
      `It was paid on ${paidAt.toISOString().slice(0, 10)}. The number of this payment is ${id}.`,
      'If you did not pay this, somebody entered your address by mistake; you need not do anything.',
    ],
  })
}

function withKobo(kobo: bigint): string {
  const [whole = '0', fraction = ''] = displayText(kobo, 2).split('.')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`
}
