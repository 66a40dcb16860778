import { inputError } from '../kernel/errors.js'
import { createSealer, keyedHash } from '../kernel/personal-data.js'
import { sqlList } from '../kernel/state-machine.js'
import { maskAccount } from '../kernel/text.js'
import { acceptedStatuses } from '../outgoing/lifecycle.js'
import type { Config } from '../platform/config/config.js'
import { query } from '../platform/database/database.js'
import { type SealedColumn, sealedBatchSize } from '../platform/database/sealed-column.js'
import type { Services } from '../services.js'
import type { UsedBankAccount } from './schemas.js'

export interface BankAccount {
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
}

/** The number and the name of a bank account, as `withdrawals` has them. */
export interface StoredAccount {
  /** Bound to it: copied to another withdrawal, the account does not open. */
  readonly reference: string
  readonly sealedAccount: Buffer
}

type Opened = Pick<BankAccount, 'accountNumber' | 'accountName'>
type Keys = Pick<Config, 'dataKeys'>

const accountPurpose = 'bank-account/1'
const namePurpose = 'account-name/1'
const row = { id: 'id', idType: 'uuid', batchSize: sealedBatchSize } as const

/** Bank accounts, and names of their holders. */
export const sealedAccounts: readonly SealedColumn[] = [
  { ...row, table: 'withdrawals', column: 'sealed_account', purpose: accountPurpose, context: 'reference' },
  {
    ...row,
    table: 'withdrawals',
    column: 'sealed_resolved_name',
    purpose: namePurpose,
    context: "'resolved ' || reference",
  },
  {
    ...row,
    table: 'payees',
    column: 'sealed_name',
    purpose: namePurpose,
    context: "'payee ' || encode(account_hash, 'hex')",
  },
]

export function sealAccount({ dataKeys }: Keys, reference: string, account: Opened): Buffer {
  const { accountNumber, accountName } = account
  return createSealer(dataKeys, accountPurpose).seal(
    JSON.stringify({ accountNumber, accountName }),
    reference,
  )
}

/** Throws SealBroken when `DATA_KEY` is another one. */
export function openAccount({ dataKeys }: Keys, { reference, sealedAccount }: StoredAccount): Opened {
  return JSON.parse(createSealer(dataKeys, accountPurpose).open(sealedAccount, reference).toString())
}

/** What names a bank account in look-ups. The key keeps a reader of the table from trying all account numbers. */
export function accountHash(
  { dataKeys }: Keys,
  { bankCode, accountNumber }: Pick<BankAccount, 'bankCode' | 'accountNumber'>,
): Buffer {
  return keyedHash(dataKeys, 'payee/1', `${bankCode}|${accountNumber}`)
}

/** The name of an account alone. `context`: what names the row, and what the name is. */
export function sealName({ dataKeys }: Keys, context: string, name: string): Buffer {
  return createSealer(dataKeys, namePurpose).seal(name, context)
}

export function openName({ dataKeys }: Keys, context: string, sealed: Buffer): string {
  return createSealer(dataKeys, namePurpose).open(sealed, context).toString()
}

/** What a payee's name is bound to. */
export function payeeContext(accountHash: Buffer): string {
  return `payee ${accountHash.toString('hex')}`
}

/** What the name is bound to that the bank has for a withdrawal's account. */
export function resolvedContext(reference: string): string {
  return `resolved ${reference}`
}

type Needs = Pick<Services, 'db' | 'config'>

const maxShown = 5
/** So many of the newest withdrawals are searched for accounts. */
const searched = 200

/** The bank accounts that the creator's own withdrawals were sent to, the last used first. */
export async function listBankAccounts({ db, config }: Needs, userId: string): Promise<UsedBankAccount[]> {
  const rows = await query<UsedAccount>(db, {
    name: 'payouts.bank-accounts',
    text: /* sql */ `
      with newest as (
        select *, w.account_hash as account from withdrawals w
        where user_id = $1 order by created_at desc, id desc limit ${searched}),
      used as (
        select distinct on (account) * from newest
        where status in (${sqlList(acceptedStatuses)})
        order by account, created_at desc)
      select u.reference, u.bank_code as "bankCode", b.name as "bankName", u.account_last_four as "lastFour",
        u.sealed_account as "sealedAccount", u.created_at as "lastUsedAt"
      from used u left join banks b on b.code = u.bank_code
      order by u.created_at desc limit ${maxShown}`,
    values: [userId],
  })
  return rows.map((row) => ({
    reference: row.reference,
    bankCode: row.bankCode,
    bankName: row.bankName,
    accountNumber: maskAccount(row.lastFour),
    accountName: openAccount(config, row).accountName,
    lastUsedAt: row.lastUsedAt.toISOString(),
  }))
}

interface UsedAccount extends StoredAccount {
  readonly bankCode: string
  readonly bankName: string | null
  readonly lastFour: string
  readonly lastUsedAt: Date
}

/** The bank accounts of a creator's withdrawals in full, for the creator. At most `most`, the last used first. */
export async function readBankAccounts(
  { db, config }: Needs,
  userId: string,
  most: number,
): Promise<BankAccount[]> {
  const rows = await query<StoredAccount & { bankCode: string }>(db, {
    name: 'payouts.own-accounts',
    text: /* sql */ `
      select * from (
        select distinct on (w.account_hash)
          w.reference, w.bank_code as "bankCode", w.sealed_account as "sealedAccount", w.created_at as at
        from withdrawals w where w.user_id = $1
        order by w.account_hash, w.created_at desc) used
      order by at desc limit $2`,
    values: [userId, most],
  })
  return rows.map((row) => ({ bankCode: row.bankCode, ...openAccount(config, row) }))
}

/** The bank account of one of the creator's own withdrawals. Throws `bank_details_required` for any other reference. */
export async function bankAccountOf(
  { db, config }: Needs,
  userId: string,
  reference: string,
): Promise<BankAccount> {
  const [account] = await query<StoredAccount & { bankCode: string }>(db, {
    name: 'payouts.bank-account',
    text: /* sql */ `
      select w.reference, w.bank_code as "bankCode", w.sealed_account as "sealedAccount"
      from withdrawals w where w.user_id = $1 and w.reference = $2`,
    values: [userId, reference.toUpperCase()],
  })
  if (account === undefined)
    throw inputError('bank_details_required', 'bankAccountOf', 'is not the reference of an own withdrawal')
  return { bankCode: account.bankCode, ...openAccount(config, account) }
}
