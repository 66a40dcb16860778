import type { OwnerNotice, WithdrawalNotice } from '../accounts/owner-mails/notices.js'
import { notifyOwner } from '../accounts/owner-mails/notify-owner.js'
import { readRecentChanges } from '../accounts/recent-changes.js'
import { nairaText } from '../kernel/money.js'
import type { Config } from '../platform/config/config.js'
import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'

export type MailSettings = Pick<Config, 'http'>

/** The fields of a withdrawal that its mails name. */
export interface MailedWithdrawal {
  readonly userId: string
  readonly reference: string
  readonly netKobo: bigint
  readonly bankCode: string
  readonly accountNumber: string
}

type AboutWithdrawal = Extract<OwnerNotice, { readonly withdrawal: WithdrawalNotice }>
type WithoutWithdrawal<Notice> = Notice extends unknown ? Omit<Notice, 'withdrawal'> : never
/** A notice about a withdrawal, before the withdrawal is described. */
export type WithdrawalEvent = WithoutWithdrawal<AboutWithdrawal>

/**
 * Mails the creator what happened to a withdrawal, in the transaction in which it happens: to the account's address and, after
 * a change of e-mail, to the one that can be restored.
 */
export async function mailCreator(
  uow: UnitOfWork,
  { http }: MailSettings,
  withdrawal: MailedWithdrawal,
  events: readonly WithdrawalEvent[],
): Promise<void> {
  const { userId: id } = withdrawal
  const { email, bankName } = await readAddressee(uow, withdrawal)
  const { moneyEmail } = await readRecentChanges(uow.trx, id)
  const described = describeWithdrawal(withdrawal, bankName)
  for (const event of events)
    for (const address of new Set([email, moneyEmail]))
      await notifyOwner(uow, http.publicUrl, { id, email: address }, { ...event, withdrawal: described })
}

export function describeWithdrawal(
  { reference, netKobo, bankCode, accountNumber }: MailedWithdrawal,
  bankName: string | null,
): WithdrawalNotice {
  return {
    reference,
    amount: nairaText(netKobo),
    bank: bankName ?? `bank ${bankCode}`,
    lastFour: accountNumber.slice(-4),
  }
}

/** The account's e-mail, and the name of the bank if it is known. */
async function readAddressee(
  { trx }: UnitOfWork,
  { userId, bankCode }: MailedWithdrawal,
): Promise<{ readonly email: string; readonly bankName: string | null }> {
  const [row] = await query<{ email: string; bankName: string | null }>(trx, {
    name: 'payouts.addressee',
    text: /* sql */ `
      select u.email, b.name as "bankName" from users u left join banks b on b.code = $2 where u.id = $1`,
    values: [userId, bankCode],
  })
  if (row === undefined) throw new Error(`There is no user ${userId}`)
  return row
}
