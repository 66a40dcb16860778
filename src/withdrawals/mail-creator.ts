import { notifyOwner } from '../accounts/owner-mails/notify-owner.js'
import type { WithdrawalFacts, WithdrawalNotice } from '../accounts/owner-mails/withdrawal-notices.js'
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
  readonly lastFour: string
}

type WithoutWithdrawal<Notice> = Notice extends unknown ? Omit<Notice, 'withdrawal'> : never
/** A notice about a withdrawal, before the withdrawal is described. */
export type WithdrawalEvent = WithoutWithdrawal<WithdrawalNotice>

/** Mails the creator what happened to a withdrawal, in the transaction in which it happens. */
export async function mailCreator(
  uow: UnitOfWork,
  { http }: MailSettings,
  withdrawal: MailedWithdrawal,
  events: readonly WithdrawalEvent[],
): Promise<void> {
  const described = await describeWithdrawal(uow, withdrawal)
  for (const event of events)
    await notifyOwner(uow, http.publicUrl, withdrawal.userId, { ...event, withdrawal: described })
}

export async function describeWithdrawal(
  uow: UnitOfWork,
  { reference, netKobo, bankCode, lastFour }: MailedWithdrawal,
): Promise<WithdrawalFacts> {
  return {
    reference,
    amount: nairaText(netKobo),
    bank: (await findBankName(uow, bankCode)) ?? `bank ${bankCode}`,
    lastFour,
  }
}

/** Null while the provider's list was never read. */
async function findBankName({ trx }: UnitOfWork, bankCode: string): Promise<string | null> {
  const [bank] = await query<{ name: string }>(trx, {
    name: 'payouts.bank-name',
    text: 'select name from banks where code = $1',
    values: [bankCode],
  })
  return bank?.name ?? null
}
