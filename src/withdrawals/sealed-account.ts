import { createSealer } from '../kernel/personal-data.js'
import type { Config } from '../platform/config/config.js'
import { type SealedColumn, sealedBatchSize } from '../platform/database/sealed-column.js'

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
