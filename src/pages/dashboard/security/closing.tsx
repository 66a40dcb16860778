import { useState } from 'preact/hooks'
import { TippingError } from '../../../sdk/client/errors.js'
import { words } from '../../i18n/dashboard.js'
import { amountText } from '../../lib/tip-text.js'
import { Checkbox, TextField } from '../../ui/fields.js'
import { Button, Fact, Notice } from '../../ui/kit.js'
import type { Balance, Security, TokenBalances } from '../answers.js'
import { call } from '../api.js'
import { Card } from '../parts/cards.js'
import { FactorField, factorFault } from '../parts/fields.js'
import { FormDialog } from '../parts/forms.js'
import { ScreenLink } from '../parts/links.js'
import { type FormOf, useForm, useLoad } from '../requests.js'
import { useDrawer } from '../route.js'
import { useSession } from '../session.js'
import { confirmByPasskey, OwnerProofField } from './factor-dialog.js'
import {
  bodyOf,
  type ClosingForm,
  codeFaults,
  emptyForm,
  isConfirmed,
  mayLeaveTokens,
  needsFactor,
  proofFaults,
  withoutUsedCodes,
} from './owner-proof.js'
import { useProtect } from './reauthentication.js'

const drawerName = 'close-account'
/** The code of a typed address that is not the account's. */
const wrongEmail = 'wrong_email'
const hasMoney = 'account_has_money'

/** Says what closing the account does, and closes it. The form stays here while another dialog asks who is there. */
export function CloseCard({ security }: { readonly security: Security }) {
  const { onClosed } = useSession()
  const protect = useProtect()
  const drawer = useDrawer()
  /** What keeps the account open, as the service names it. It stays in sight while the form is changed for it. */
  const [money, setMoney] = useState<readonly string[]>([])
  const close = useForm(emptyForm(security), async (form) => {
    setMoney([])
    try {
      await protect(
        async () => call('DELETE', '/auth/me', { body: await bodyOf(form, security, confirmByPasskey) }),
        'sign-in',
      )
    } catch (error) {
      if (error instanceof TippingError && error.code === hasMoney) {
        setMoney(error.details.map(({ field }) => field))
        close.set(withoutUsedCodes(form))
      }
      throw error
    }
    onClosed()
  })
  const text = words.closing
  return (
    <Card name="closing" title={text.title}>
      <p>{text.lead}</p>
      <dl class="facts">
        <Fact name={text.first}>{text.firstMore}</Fact>
        <Fact name={text.deleted}>{text.deletedMore}</Fact>
        <Fact name={text.kept}>{text.keptMore}</Fact>
      </dl>
      <Button
        text={text.open}
        onPress={() => {
          close.set(emptyForm(security))
          setMoney([])
          drawer.show(drawerName)
        }}
      />
      {drawer.open === drawerName && (
        <CloseDialog security={security} closing={close} money={money} onClose={drawer.close} />
      )}
    </Card>
  )
}

interface CloseDialogProps {
  security: Security
  closing: FormOf<ClosingForm>
  money: readonly string[]
  onClose: () => void
}

function CloseDialog({ security, closing, money, onClose }: CloseDialogProps) {
  const { me } = useSession()
  const { proof, leaveTokens } = closing.values
  const factor = needsFactor(closing.values, security)
    ? closing.field('factor', codeFaults, factorFault)
    : undefined
  const ofProof = factor?.fault ? undefined : closing.told(proofFaults)
  closing.told([hasMoney])
  return (
    <FormDialog
      title={words.closing.question}
      submit={words.closing.submit}
      of={closing}
      onSubmit={() => (isConfirmed(closing.values, me.email) ? closing.run() : closing.fail(wrongEmail))}
      onClose={onClose}
    >
      <p>{words.closing.effect}</p>
      <TextField
        label={words.closing.type}
        hint={me.email}
        name="confirm-email"
        autocapitalize="none"
        spellcheck={false}
        inputMode="email"
        required
        {...closing.field('typed', [wrongEmail], () => words.closing.otherAddress(me.email))}
      />
      <OwnerProofField
        security={security}
        proof={proof}
        fault={ofProof}
        onChange={(changed) => closing.set({ proof: changed })}
      />
      {factor && <FactorField app={security.totp} hint={words.factor.countsToRenew} {...factor} />}
      {money.length > 0 && (
        <MoneyLeft
          money={money}
          mayLeave={mayLeaveTokens(security)}
          leaveTokens={leaveTokens}
          onLeave={(leave) => closing.set({ leaveTokens: leave })}
        />
      )}
    </FormDialog>
  )
}

const text = words.closing.money

interface MoneyLeftProps {
  money: readonly string[]
  mayLeave: boolean
  leaveTokens: boolean
  onLeave: (leave: boolean) => void
}

function MoneyLeft({ money, mayLeave, leaveTokens, onLeave }: MoneyLeftProps) {
  const hasTokens = money.includes('leaveTokens')
  const others = new Set(money.filter((field) => field !== 'balance' && field !== 'leaveTokens'))
  const known: Readonly<Record<string, string>> = text.under
  return (
    <>
      <Notice tone="warn" urgent title={text.title}>
        <p>{text.lead}</p>
        <ul class="how">
          {money.includes('balance') && <InBalance />}
          {[...others].map((field) => (
            <li key={field}>{known[field] ?? text.other}</li>
          ))}
          {hasTokens && <InWallet mayLeave={mayLeave} />}
        </ul>
      </Notice>
      {hasTokens && mayLeave && <Checkbox label={text.leave} value={leaveTokens} onChange={onLeave} />}
    </>
  )
}

const kinds = ['availableUSDC', 'pendingUSDC', 'heldUSDC'] as const

/** To the micro-unit: the smallest remainder keeps the account open. */
const exactly = (amount: number): string => amount.toLocaleString('en-US', { maximumFractionDigits: 6 })

function InBalance() {
  const { data } = useLoad<Balance>('/creators/balance')
  const amounts = kinds
    .filter((kind) => (data?.balance[kind] ?? 0) > 0)
    .map((kind) => `${exactly(data?.balance[kind] ?? 0)} USDC ${text.kinds[kind]}`)
  return (
    <li>
      {text.balance(data === undefined ? words.loading : amounts.join(', '))}{' '}
      <ScreenLink to="withdraw">{text.withdraw}</ScreenLink> {text.tooLittle}
    </li>
  )
}

function InWallet({ mayLeave }: { readonly mayLeave: boolean }) {
  const { data } = useLoad<TokenBalances>('/creators/balance/tokens')
  const amounts = data?.tokens.map(({ amount, symbol }) => amountText(amount, symbol)).join(', ')
  return (
    <li>
      {text.tokens(amounts ?? words.loading)} {!mayLeave && text.ask}
    </li>
  )
}
