import {
  type NoticeText,
  nothingToDo,
  notifyKnown,
  type Owner,
  type OwnerNotice,
} from '../accounts/notify-owner.js'
import { nairaText } from '../kernel/money.js'
import { maskAccount } from '../kernel/text.js'
import { type EmailFact, quoteInMail } from '../mail/layout.js'
import type { Config } from '../platform/config/config.js'
import type { UnitOfWork } from '../platform/database/transact.js'

export type MailSettings = Pick<Config, 'http'>

export interface MailedWithdrawal {
  readonly userId: string
  readonly reference: string
  readonly netKobo: bigint
  readonly bankCode: string
  /** Null while the provider's list was never read. */
  readonly bankName: string | null
  readonly lastFour: string
}

/** What the creator is told about a withdrawal. */
export type WithdrawalEvent =
  | {
      readonly kind:
        | 'payee-added'
        | 'withdrawal-requested'
        | 'withdrawal-paid'
        | 'withdrawal-returned'
        | 'withdrawal-cancelled'
    }
  | { readonly kind: 'withdrawal-failed'; readonly reason: string }

export interface WithdrawalFacts {
  readonly reference: string
  /** Such as `NGN 12,500.00`. */
  readonly amount: string
  readonly bank: string
  readonly lastFour: string
}

/** Mails the creator what happened to a withdrawal, in the transaction in which it happens. */
export async function mailCreator(
  uow: UnitOfWork,
  { http }: MailSettings,
  withdrawal: MailedWithdrawal & Owner,
  events: readonly WithdrawalEvent[],
): Promise<void> {
  const described = describeWithdrawal(withdrawal)
  for (const event of events)
    await notifyKnown(uow, http.publicUrl, withdrawal, withdrawalNotice(event, described))
}

export function describeWithdrawal({
  reference,
  netKobo,
  bankCode,
  bankName,
  lastFour,
}: MailedWithdrawal): WithdrawalFacts {
  return { reference, amount: nairaText(netKobo), bank: bankName ?? `bank ${bankCode}`, lastFour }
}

export function withdrawalNotice(event: WithdrawalEvent, withdrawal: WithdrawalFacts): OwnerNotice {
  return { kind: event.kind, describe: (site) => describeEvent(event, withdrawal, site) }
}

function describeEvent(event: WithdrawalEvent, withdrawal: WithdrawalFacts, site: string): NoticeText {
  const mine = `Your withdrawal from ${site}`
  const asked = { facts: withdrawalFacts(withdrawal), advice: [nothingToDo], security: true }
  const ended = { facts: withdrawalFacts(withdrawal), security: false }
  switch (event.kind) {
    case 'payee-added':
      return {
        ...asked,
        subject: `A new bank account for your withdrawals from ${site}`,
        lines: [
          `A bank account that was not used before was named for a withdrawal from your account at ${site}.`,
        ],
        facts: bankFacts(withdrawal),
      }
    case 'withdrawal-requested':
      return {
        ...asked,
        subject: mine,
        lines: [`A withdrawal from your account at ${site} was requested.`],
      }
    case 'withdrawal-paid':
      return {
        ...ended,
        subject: `${mine} is paid`,
        lines: [`${mine} was paid to your bank.`],
        advice: ['If you do not see it at your bank by tomorrow, reply to this e-mail with the reference.'],
      }
    case 'withdrawal-returned':
      return {
        ...ended,
        subject: `${mine} came back`,
        lines: [`Your bank sent your withdrawal from ${site} back. The money is in your balance again.`],
        advice: ['Check the bank account with your bank before you withdraw again.'],
      }
    case 'withdrawal-failed':
      return {
        ...ended,
        subject: `${mine} failed`,
        lines: [`${mine} was not paid. The money is in your balance again.`],
        facts: [...ended.facts, ['Reason', quoteInMail(event.reason)]],
        advice: ['You can withdraw again. If it fails again, reply to this e-mail with the reference.'],
      }
    case 'withdrawal-cancelled':
      return {
        ...asked,
        subject: `${mine} is cancelled`,
        lines: [`You cancelled a withdrawal from ${site}. The money is in your balance again.`],
      }
  }
}

function bankFacts({ bank, lastFour }: WithdrawalFacts): EmailFact[] {
  return [['Bank account', `${quoteInMail(bank)} ${maskAccount(quoteInMail(lastFour))}`]]
}

function withdrawalFacts(withdrawal: WithdrawalFacts): EmailFact[] {
  return [['Amount', withdrawal.amount], ...bankFacts(withdrawal), ['Reference', withdrawal.reference]]
}
