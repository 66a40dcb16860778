import { createSealer } from '../kernel/personal-data.js'
import type { Config } from '../platform/config/config.js'

/** Whom a withdrawal pays. */
export interface BankAccount {
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
}

/** The number and the name of a bank account, as `withdrawals` has them. */
export interface StoredAccount {
  /** Bound to it: copied to another withdrawal, the account does not open. */
  readonly reference: string
  /** Null in a row from before, until it is sealed. */
  readonly sealedAccount: Buffer | null
  readonly plainNumber: string | null
  readonly plainName: string | null
}

type Opened = Pick<BankAccount, 'accountNumber' | 'accountName'>
type Keys = Pick<Config, 'dataKey'>

const accountPurpose = 'bank-account/1'
const namePurpose = 'account-name/1'

/** The columns of `withdrawals`, as SQL that names it `alias`, for `openAccount`. */
export function storedAccountColumns(alias: string): string {
  return `${alias}.sealed_account as "sealedAccount", ${alias}.account_number as "plainNumber", ${alias}.account_name as "plainName"`
}

/** The last four digits, which lists and mails show. */
export function lastFourColumn(alias: string): string {
  return `coalesce(${alias}.account_last_four, right(${alias}.account_number, 4)) as "lastFour"`
}

export function sealAccount({ dataKey }: Keys, reference: string, account: Opened): Buffer {
  const { accountNumber, accountName } = account
  return createSealer(dataKey, accountPurpose).seal(JSON.stringify({ accountNumber, accountName }), reference)
}

/** Throws SealBroken when `DATA_KEY` is another one. */
export function openAccount({ dataKey }: Keys, stored: StoredAccount): Opened {
  const { reference, sealedAccount, plainNumber, plainName } = stored
  if (sealedAccount !== null)
    return JSON.parse(createSealer(dataKey, accountPurpose).open(sealedAccount, reference).toString())
  if (plainNumber === null || plainName === null) throw new Error(`Withdrawal ${reference} has no account`)
  return { accountNumber: plainNumber, accountName: plainName }
}

/** The name of an account alone. `context`: what names the row, and what the name is. */
export function sealName({ dataKey }: Keys, context: string, name: string): Buffer {
  return createSealer(dataKey, namePurpose).seal(name, context)
}

export function openName({ dataKey }: Keys, context: string, sealed: Buffer): string {
  return createSealer(dataKey, namePurpose).open(sealed, context).toString()
}

/** What a payee's name is bound to. */
export function payeeContext(accountHash: Buffer): string {
  return `payee ${accountHash.toString('hex')}`
}

/** What the name is bound to that the bank has for a withdrawal's account. */
export function resolvedContext(reference: string): string {
  return `resolved ${reference}`
}
