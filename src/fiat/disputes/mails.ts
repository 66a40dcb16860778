import { type NoticeText, notifyOwner, type OwnerNotice } from '../../accounts/notify-owner.js'
import { nairaText, usdcText } from '../../kernel/money.js'
import { lagosText, nairaSignText } from '../../kernel/payer-texts.js'
import { statusUrl } from '../../kernel/status-link.js'
import { type EmailContent, type EmailFact, quoteInMail } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { payerMailWords } from '../payer-mails/words.js'
import { type LockedIntent, lockIntent } from '../settlement/lock-intent.js'
import type { BookedReturn } from './book-return.js'
import type { Loss } from './payment-shares.js'

/** What happened to a payment. `loss`: what the creator would lose, has lost, or has back; undefined: nothing. */
export type ReturnNews =
  | { readonly kind: 'opened' | 'won'; readonly loss: Loss | undefined }
  | { readonly kind: 'lost' | 'returned'; readonly loss: BookedReturn }

interface MailedReturn {
  /** Null: no charge of ours, so nobody is told. */
  readonly intentId: string | null
  readonly kobo: bigint
  /** Until when the creator can say something about it. Null, or absent: no more. */
  readonly replyBy?: Date | null
}

const kinds = {
  opened: 'dispute-opened',
  won: 'dispute-won',
  lost: 'dispute-lost',
  returned: 'payment-returned',
} as const satisfies Record<ReturnNews['kind'], string>

/** Naira of a tip that its payer has back, or wants back. Amounts as text, such as `NGN 12,500.00` and `USDC 7.5`. */
export interface ReturnFacts {
  readonly tipId: string
  readonly naira: string
  /** What it is of the balance. */
  readonly usdc: string
  /** What the balance did not have. Undefined: nothing. */
  readonly owed: string | undefined
  /** Of an opened dispute: until when the creator can say something about it. */
  readonly replyBy: Date | undefined
}

/** Tells the creator, and the payer who gave an address, in the transaction in which it happens. */
export async function mailReturnNews(
  uow: UnitOfWork,
  { config }: Pick<Services, 'config'>,
  { intentId, kobo, replyBy }: MailedReturn,
  news: ReturnNews,
): Promise<void> {
  if (intentId === null) return
  const intent = await lockIntent(uow.trx, intentId)
  const debitMicro = news.loss?.debitMicro ?? 0n
  // Money in suspense is not the creator's, and a closed account has nobody to read it.
  const concernsCreator = news.kind === 'won' || debitMicro > 0n
  if (concernsCreator && !(await isClosed(uow, intent.userId)))
    await notifyOwner(
      uow,
      config.http.publicUrl,
      intent.userId,
      returnNotice(news.kind, { ...factsOf(intent, kobo, debitMicro, news), replyBy: replyBy ?? undefined }),
    )
  if (intent.receiptTo !== null)
    await queueEmail(uow, {
      kind: `payer-${kinds[news.kind]}`,
      to: intent.receiptTo,
      ...payerMail(intent, kobo, news.kind, statusUrl(config.http.publicUrl, intent.statusKey, intentId)),
    })
}

function factsOf(
  { id }: LockedIntent,
  kobo: bigint,
  debitMicro: bigint,
  news: ReturnNews,
): Omit<ReturnFacts, 'replyBy'> {
  const openMicro = news.kind === 'lost' || news.kind === 'returned' ? news.loss.openMicro : 0n
  return {
    tipId: id,
    naira: nairaText(kobo),
    usdc: usdcText(debitMicro),
    owed: openMicro > 0n ? usdcText(openMicro) : undefined,
  }
}

export function returnNotice(kind: ReturnNews['kind'], payment: ReturnFacts): OwnerNotice {
  return { kind: kinds[kind], describe: (site) => describeReturn(kind, payment, site) }
}

function describeReturn(kind: ReturnNews['kind'], payment: ReturnFacts, site: string): NoticeText {
  const facts: EmailFact[] = [
    ['Payment', payment.naira],
    [kind === 'opened' ? 'Held' : 'Of your balance', payment.usdc],
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
  if (kind === 'opened')
    return {
      subject: `A payment to you at ${site} is disputed`,
      lines: [
        `At ${site}, ${dispute}. We answer the bank, which decides. Until then we hold what the tip credited, up to what your balance has.`,
      ],
      facts,
      advice: [
        payment.replyBy === undefined
          ? 'You need not do anything: it is too late to tell the bank more.'
          : `If you know the payer, or gave something for this tip, reply to this e-mail by ${lagosText(payment.replyBy)}, and say so: we tell the bank. Otherwise you need not do anything.`,
      ],
      security: false,
    }
  if (kind === 'won')
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
      kind === 'lost'
        ? `At ${site}, ${dispute}, and the bank has given it back. What the tip credited is taken from your balance, and we give up our fee of it.`
        : `At ${site}, a payment for a tip to you went back to its payer. What the tip credited is taken from your balance, and we give up our fee of it.`,
      ...owing,
    ],
    facts,
    advice: ['If you think that this is wrong, reply to this e-mail with the number of the tip.'],
    security: false,
  }
}

/** The payer of a known address, in the style of the receipts. The creator's name is the only text that a user chose. */
function payerMail(
  { id, creatorName, language }: Pick<LockedIntent, 'id' | 'creatorName' | 'language'>,
  kobo: bigint,
  kind: ReturnNews['kind'],
  link: string,
): EmailContent {
  const { number, seePayment, disputeOpened, disputeWon, returned } = payerMailWords[language]
  const words = { opened: disputeOpened, won: disputeWon, lost: returned, returned }[kind]
  const amount = nairaSignText(kobo, language)
  return {
    language,
    subject: words.subject(amount),
    blocks: [
      words.lead(quoteInMail(creatorName)),
      { standout: amount },
      ...('more' in words ? [words.more] : []),
      number(id),
      { link, label: seePayment },
    ],
  }
}

async function isClosed({ trx }: UnitOfWork, userId: string): Promise<boolean> {
  const [row] = await query<{ closed: boolean }>(trx, {
    name: 'disputes.closed',
    text: 'select closed_at is not null as closed from users where id = $1',
    values: [userId],
  })
  return row?.closed ?? true
}
