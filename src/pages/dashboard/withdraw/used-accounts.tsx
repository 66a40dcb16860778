import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import type { UsedBankAccount } from '../answers.js'
import { RadioGroup } from '../parts/fields/radio-group.js'
import { lastDigits } from './amounts.js'
import { type Draft, emptyDraft } from './flow.js'

/** The part of a draft that names an account used before. */
export function usedAccount({
  reference,
  bankCode,
  bankName,
  accountNumber,
  accountName,
}: UsedBankAccount): Partial<Draft> {
  return { bankAccountOf: reference, bankCode, bankName: bankName ?? bankCode, accountNumber, accountName }
}

/** The draft for the fields of a new account: those of a used one do not belong there. */
export function withoutUsedAccount(draft: Draft): Draft {
  if (!draft.bankAccountOf) return draft
  const { bankCode, bankName, accountNumber, accountName } = emptyDraft
  return { ...draft, bankCode, bankName, accountNumber, accountName }
}

/** Offers the accounts of earlier withdrawals, and another one. Renders nothing without any. */
export function UsedAccounts({
  accounts,
  chosen,
  onChoose,
}: {
  readonly accounts: readonly UsedBankAccount[]
  /** The reference of a withdrawal, or empty for another account. */
  readonly chosen: string
  readonly onChoose: (reference: string) => void
}): JSX.Element | null {
  if (accounts.length === 0) return null
  const texts = Object.fromEntries(
    accounts.map(({ reference, accountName, bankName, bankCode, accountNumber }) => [
      reference,
      `${accountName}, ${bankName ?? bankCode} ${lastDigits(accountNumber)}`,
    ]),
  )
  return (
    <RadioGroup
      name="account"
      legend={words.bank.used}
      choices={[...accounts.map(({ reference }) => reference), '']}
      texts={{ ...texts, '': words.bank.another }}
      chosen={chosen}
      stacked
      onChoose={onChoose}
    />
  )
}
