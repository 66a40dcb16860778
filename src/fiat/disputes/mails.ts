import type { OwnerNotice } from '../../accounts/owner-mails/notices.js'
import { notifyOwner } from '../../accounts/owner-mails/notify-owner.js'
import type { PaymentFacts } from '../../accounts/owner-mails/payment-notices.js'
import { quoteInMail } from '../../accounts/owner-mails/quote.js'
import { nairaText, usdcText } from '../../kernel/money.js'
import { emailLayout } from '../../mail/layout.js'
import { type EmailContent, queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { type LockedIntent, lockIntent } from '../settlement/lock-intent.js'
import type { BookedReturn } from './book-return.js'
import type { Loss } from './payment-shares.js'

/** What happened to a payment. `loss`: what the creator would lose, has lost, or has back; undefined: nothing. */
export type ReturnNews =
  | { readonly kind: 'opened' | 'won'; readonly loss: Loss | undefined }
  | { readonly kind: 'lost' | 'returned'; readonly loss: BookedReturn }

/** What it is about. */
interface MailedReturn {
  /** Null: no charge of ours, so nobody is told. */
  readonly intentId: string | null
  readonly kobo: bigint
}

const notices = {
  opened: 'dispute-opened',
  won: 'dispute-won',
  lost: 'dispute-lost',
  returned: 'payment-returned',
} as const satisfies Record<ReturnNews['kind'], OwnerNotice['kind']>

/** Tells the creator, and the payer who gave an address, in the transaction in which it happens. */
export async function mailReturnNews(
  uow: UnitOfWork,
  { config }: Pick<Services, 'config'>,
  { intentId, kobo }: MailedReturn,
  news: ReturnNews,
): Promise<void> {
  if (intentId === null) return
  const intent = await lockIntent(uow.trx, intentId)
  const debitMicro = news.loss?.debitMicro ?? 0n
  // Money in suspense is not the creator's, and a closed account has nobody to read it.
  const concernsCreator = news.kind === 'won' || debitMicro > 0n
  if (concernsCreator && !(await isClosed(uow, intent.userId)))
    await notifyOwner(uow, config.http.publicUrl, intent.userId, {
      kind: notices[news.kind],
      payment: paymentNotice(intent, kobo, debitMicro, news),
    })
  if (intent.receiptTo !== null)
    await queueEmail(uow, {
      kind: `payer-${notices[news.kind]}`,
      to: intent.receiptTo,
      ...payerMail(intent, kobo, news.kind),
    })
}

function paymentNotice(
  { id }: LockedIntent,
  kobo: bigint,
  debitMicro: bigint,
  news: ReturnNews,
): PaymentFacts {
  const openMicro = news.kind === 'lost' || news.kind === 'returned' ? news.loss.openMicro : 0n
  return {
    tipId: id,
    naira: nairaText(kobo),
    usdc: usdcText(debitMicro),
    owed: openMicro > 0n ? usdcText(openMicro) : undefined,
  }
}

/** The payer of a known address, in the style of the receipts. The creator's name is the only text that a user chose. */
function payerMail(
  { id, creatorName }: Pick<LockedIntent, 'id' | 'creatorName'>,
  kobo: bigint,
  kind: ReturnNews['kind'],
): EmailContent {
  const amount = nairaText(kobo)
  const tip = `your tip to "${quoteInMail(creatorName)}"`
  const number = `The number of this payment is ${id}.`
  if (kind === 'opened')
    return emailLayout({
      subject: `Your bank asks about your payment of ${amount}`,
      blocks: [
        `Your bank has told us that the payment for ${tip} is disputed:`,
        { standout: amount },
        'The bank decides, usually within some days. If you recognise the payment after all, tell your bank so.',
        number,
      ],
    })
  if (kind === 'won')
    return emailLayout({
      subject: `Your payment of ${amount} stands`,
      blocks: [
        `The dispute about the payment for ${tip} has ended. The payment stands:`,
        { standout: amount },
        number,
      ],
    })
  return emailLayout({
    subject: `Your payment of ${amount} goes back to you`,
    blocks: [
      `The payment for ${tip} goes back to you, to the account or card that it came from:`,
      { standout: amount },
      'Banks need some days to show it.',
      number,
    ],
  })
}

async function isClosed({ trx }: UnitOfWork, userId: string): Promise<boolean> {
  const [row] = await query<{ closed: boolean }>(trx, {
    name: 'disputes.closed',
    text: 'select closed_at is not null as closed from users where id = $1',
    values: [userId],
  })
  return row?.closed ?? true
}
