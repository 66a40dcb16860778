import { maskAccount } from '../../kernel/text.js'
import type { EmailFact } from '../../mail/layout.js'
import { type NoticeText, nothingToDo } from './notice-text.js'
import { quoteInMail } from './quote.js'

/** What the owner is told about withdrawals. */
export type WithdrawalNotice =
  | {
      readonly kind:
        | 'payee-added'
        | 'withdrawal-requested'
        | 'withdrawal-paid'
        | 'withdrawal-returned'
        | 'withdrawal-cancelled'
      readonly withdrawal: WithdrawalFacts
    }
  | { readonly kind: 'withdrawal-failed'; readonly withdrawal: WithdrawalFacts; readonly reason: string }

export interface WithdrawalFacts {
  readonly reference: string
  /** Such as `NGN 12,500.00`. */
  readonly amount: string
  readonly bank: string
  readonly lastFour: string
}

/** The words of a notice about a withdrawal. */
export function describeWithdrawalNotice(notice: WithdrawalNotice, site: string): NoticeText {
  switch (notice.kind) {
    case 'payee-added':
      return {
        subject: `A new bank account for your withdrawals from ${site}`,
        lines: [
          `A bank account that was not used before was named for a withdrawal from your account at ${site}.`,
        ],
        facts: bankFacts(notice.withdrawal),
        advice: [nothingToDo],
        security: true,
      }
    case 'withdrawal-requested':
      return {
        subject: `Your withdrawal from ${site}`,
        lines: [`A withdrawal from your account at ${site} was requested.`],
        facts: withdrawalFacts(notice.withdrawal),
        advice: [nothingToDo],
        security: true,
      }
    case 'withdrawal-paid':
      return {
        subject: `Your withdrawal from ${site} is paid`,
        lines: [`Your withdrawal from ${site} was paid to your bank.`],
        facts: withdrawalFacts(notice.withdrawal),
        advice: ['If you do not see it at your bank by tomorrow, reply to this e-mail with the reference.'],
        security: false,
      }
    case 'withdrawal-returned':
      return {
        subject: `Your withdrawal from ${site} came back`,
        lines: [`Your bank sent your withdrawal from ${site} back. The money is in your balance again.`],
        facts: withdrawalFacts(notice.withdrawal),
        advice: ['Check the bank account with your bank before you withdraw again.'],
        security: false,
      }
    case 'withdrawal-failed':
      return {
        subject: `Your withdrawal from ${site} failed`,
        lines: [`Your withdrawal from ${site} was not paid. The money is in your balance again.`],
        facts: [...withdrawalFacts(notice.withdrawal), ['Reason', quoteInMail(notice.reason)]],
        advice: ['You can withdraw again. If it fails again, reply to this e-mail with the reference.'],
        security: false,
      }
    case 'withdrawal-cancelled':
      return {
        subject: `Your withdrawal from ${site} is cancelled`,
        lines: [`You cancelled a withdrawal from ${site}. The money is in your balance again.`],
        facts: withdrawalFacts(notice.withdrawal),
        advice: [nothingToDo],
        security: true,
      }
  }
}

function bankFacts({ bank, lastFour }: WithdrawalFacts): EmailFact[] {
  return [['Bank account', `${quoteInMail(bank)} ${maskAccount(quoteInMail(lastFour))}`]]
}

function withdrawalFacts(withdrawal: WithdrawalFacts): EmailFact[] {
  return [['Amount', withdrawal.amount], ...bankFacts(withdrawal), ['Reference', withdrawal.reference]]
}
