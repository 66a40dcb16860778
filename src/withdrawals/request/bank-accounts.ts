import { inputError } from '../../kernel/errors.js'
import { sqlList } from '../../kernel/state-machine.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { acceptedStatuses } from '../lifecycle.js'
import type { UsedBankAccount } from '../schemas.js'
import { maskAccount } from '../withdrawal.js'

type Needs = Pick<Services, 'db'>

/** Whom a withdrawal pays. */
export interface BankAccount {
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
}

const maxShown = 5
/** So many of the newest withdrawals are searched for accounts. */
const searched = 200

/** The bank accounts that the creator's own withdrawals were sent to, the last used first. */
export async function listBankAccounts({ db }: Needs, userId: string): Promise<UsedBankAccount[]> {
  const rows = await query<BankAccount & { reference: string; bankName: string | null; lastUsedAt: Date }>(
    db,
    {
      name: 'payouts.bank-accounts',
      text: /* sql */ `
      with newest as (
        select reference, bank_code, account_number, account_name, status, created_at from withdrawals
        where user_id = $1 order by created_at desc, id desc limit ${searched}),
      used as (
        select distinct on (bank_code, account_number) * from newest
        where status in (${sqlList(acceptedStatuses)})
        order by bank_code, account_number, created_at desc)
      select u.reference, u.bank_code as "bankCode", b.name as "bankName", u.account_number as "accountNumber",
        u.account_name as "accountName", u.created_at as "lastUsedAt"
      from used u left join banks b on b.code = u.bank_code
      order by u.created_at desc limit ${maxShown}`,
      values: [userId],
    },
  )
  return rows.map(({ accountNumber, lastUsedAt, ...rest }) => ({
    ...rest,
    accountNumber: maskAccount(accountNumber),
    lastUsedAt: lastUsedAt.toISOString(),
  }))
}

/** The bank account of one of the creator's own withdrawals. Throws `bank_details_required` for any other reference. */
export async function bankAccountOf({ db }: Needs, userId: string, reference: string): Promise<BankAccount> {
  const [account] = await query<BankAccount>(db, {
    name: 'payouts.bank-account',
    text: /* sql */ `
      select bank_code as "bankCode", account_number as "accountNumber", account_name as "accountName"
      from withdrawals where user_id = $1 and reference = $2`,
    values: [userId, reference.toUpperCase()],
  })
  if (account === undefined)
    throw inputError('bank_details_required', 'bankAccountOf', 'is not the reference of an own withdrawal')
  return account
}
