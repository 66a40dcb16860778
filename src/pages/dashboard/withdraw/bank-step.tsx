import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Field, Form, RadioGroup, TextField } from '../../ui/fields.js'
import { Button, Notice } from '../../ui/kit.js'
import type { BankAccounts, Banks, UsedBankAccount } from '../answers.js'
import { call, codeOf } from '../api.js'
import { Submit } from '../parts/forms.js'
import { FaultNotice, Loading } from '../parts/notices.js'
import { useLoad } from '../requests.js'
import { useSession } from '../session.js'
import type { StepProps } from './amount-steps.js'
import { BankChoice } from './bank-choice.js'
import { type Draft, emptyDraft, hasAccount } from './flow.js'
import { accountText, namesMatch } from './rules.js'

const text = words.bank

/** Step 2: the bank account. The holder's name is looked up before any money is sent. */
export function BankStep({ flow, dispatch }: Pick<StepProps, 'flow' | 'dispatch'>) {
  const accounts = useLoad<BankAccounts>('/creators/bank-accounts')
  const typed = withoutUsedAccount(flow.draft)
  const [wrong, setWrong] = useState<string>()
  const fault = wrong ?? flow.fault
  const found = useAccountName(typed.bankCode, typed.accountNumber)
  const used = accounts.data?.bankAccounts ?? []
  const chosen = typed.bankAccountOf ?? used[0]?.reference ?? ''
  const account = used.find(({ reference }) => reference === chosen)
  // The bank's name wins over a typed one, which may belong to another account.
  const draft: Draft = found.state === 'found' ? { ...typed, accountName: found.name } : typed
  if (!accounts.isOver) return <Loading />
  const set = (change: Partial<Draft>): void => {
    dispatch({ type: 'edited', draft: { ...typed, ...change } })
    setWrong(undefined)
  }
  return (
    <Form
      noValidate
      onSubmit={() => {
        if (account !== undefined) {
          dispatch({ type: 'completed-step', step: 'bank', draft: { ...draft, ...usedAccount(account) } })
          return
        }
        // The account name's place already shows why this account cannot be used.
        if (found.state === 'loading' || found.state === 'none') return
        if (hasAccount(draft)) dispatch({ type: 'completed-step', step: 'bank', draft })
        else setWrong('bank_details_required')
      }}
    >
      {used.length > 0 && (
        <RadioGroup
          name="account"
          legend={text.used}
          choices={[...used.map(({ reference }) => reference), '']}
          texts={{ ...Object.fromEntries(used.map(usedText)), '': text.another }}
          chosen={chosen}
          stacked
          onChoose={(bankAccountOf) => set({ bankAccountOf })}
        />
      )}
      {account === undefined && <NewAccount {...{ draft, found, set }} />}
      <Submit text={words.next} fault={fault} />
      <Button kind="quiet" text={words.back} onPress={() => dispatch({ type: 'back' })} />
    </Form>
  )
}

type NewAccountProps = { draft: Draft; found: FoundName; set: (change: Partial<Draft>) => void }

function NewAccount({ draft, found, set }: NewAccountProps) {
  const { data, unread, reload } = useLoad<Banks>('/creators/banks')
  return (
    <>
      <FaultNotice fault={unread} tone="warn" onRetry={reload} />
      <BankChoice
        banks={data?.banks ?? []}
        chosen={draft.bankName}
        onChoose={({ code, name }) => set({ bankCode: code, bankName: name, accountName: '' })}
      />
      <Field label={text.number} hint={text.numberHint}>
        <input
          class="input number"
          name="accountNumber"
          inputMode="numeric"
          autocomplete="off"
          maxLength={14}
          value={draft.accountNumber}
          onInput={({ currentTarget }) => {
            const digits = currentTarget.value.replace(/\D/g, '').slice(0, 10)
            currentTarget.value = digits
            set({ accountNumber: digits, accountName: '' })
          }}
        />
      </Field>
      <AccountName found={found} draft={draft} onName={(accountName) => set({ accountName })} />
    </>
  )
}

type AccountNameProps = { found: FoundName; draft: Draft; onName: (name: string) => void }

/** The account holder's name from the bank, or a field to type it when the bank cannot be reached. */
function AccountName({ found, draft, onName }: AccountNameProps) {
  const { me } = useSession()
  if (found.state === 'loading')
    return (
      <p class="quiet" role="status">
        {text.asking}
      </p>
    )
  if (found.state === 'none') return <Notice tone="bad" urgent text={words.fault('bank_account_not_found')} />
  if (found.state === 'found') {
    const same = namesMatch(found.name, me.name)
    return (
      <Notice
        tone={same ? 'good' : 'warn'}
        icon={same ? 'tick' : 'warn'}
        urgent
        title={<bdi>{found.name}</bdi>}
        text={same ? text.matches : text.differs(me.name)}
      />
    )
  }
  if (found.state === 'unknown' || found.state === 'unverified')
    return (
      <TextField
        label={text.name}
        hint={text.nameHints[found.state]}
        name="accountName"
        autocomplete="name"
        maxLength={100}
        value={draft.accountName}
        onInput={onName}
      />
    )
  return null
}

function usedAccount({
  reference,
  bankCode,
  bankName,
  accountNumber,
  accountName,
}: UsedBankAccount): Partial<Draft> {
  return { bankAccountOf: reference, bankCode, bankName: bankName ?? bankCode, accountNumber, accountName }
}

/** The draft for the fields of a new account: those of a used one do not belong there. */
function withoutUsedAccount(draft: Draft): Draft {
  if (!draft.bankAccountOf) return draft
  const { bankCode, bankName, accountNumber, accountName } = emptyDraft
  return { ...draft, bankCode, bankName, accountNumber, accountName }
}

function usedText(account: UsedBankAccount): [string, string] {
  return [account.reference, `${account.accountName}, ${accountText(account)}`]
}

/**
 * `idle`: the account is incomplete; `none`: there is no such account; `unknown`: the name could not be looked up;
 * `unverified`: only a creator with a confirmed e-mail address may look names up.
 */
type FoundName =
  | { readonly state: 'idle' | 'loading' | 'none' | 'unknown' | 'unverified' }
  | { readonly state: 'found'; readonly name: string }

const resolved = new Map<string, FoundName>()

/** The holder of a bank account. Results are cached while the page is open, because the API's rate limit is low. */
function useAccountName(bankCode: string, accountNumber: string): FoundName {
  const [found, setFound] = useState<FoundName>({ state: 'idle' })
  useEffect(() => {
    if (bankCode === '' || accountNumber.length !== 10) {
      setFound({ state: 'idle' })
      return
    }
    const key = `${bankCode} ${accountNumber}`
    const known = resolved.get(key)
    if (known !== undefined) {
      setFound(known)
      return
    }
    const stop = new AbortController()
    setFound({ state: 'loading' })
    void resolveName(bankCode, accountNumber, stop.signal).then((answer) => {
      if (answer.state === 'found' || answer.state === 'none') resolved.set(key, answer)
      if (!stop.signal.aborted) setFound(answer)
    })
    return () => stop.abort()
  }, [bankCode, accountNumber])
  return found
}

async function resolveName(bankCode: string, accountNumber: string, signal: AbortSignal): Promise<FoundName> {
  try {
    const { accountName } = await call<{ accountName: string }>('POST', '/creators/bank-accounts/resolve', {
      body: { bankCode, accountNumber },
      signal,
    })
    return { state: 'found', name: accountName }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'email_not_verified') return { state: 'unverified' }
    return { state: code === 'bank_account_not_found' ? 'none' : 'unknown' }
  }
}
