import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { amountText } from '../../../lib/tip-text.js'
import { Checkbox } from '../../../ui/controls/checkbox.js'
import { Notice } from '../../../ui/messages/notice.js'
import type { Balance, TokenBalance } from '../../answers.js'
import { ScreenLink } from '../../parts/screen-link.js'
import { useLoad } from '../../use-load.js'

const text = words.closing.money

/** What keeps the account open, and what its owner does about it. */
export function MoneyLeft({
  money,
  mayLeave,
  leaveTokens,
  onLeave,
}: {
  /** As the service names it. */
  readonly money: readonly string[]
  /** Whether tokens may be left behind. */
  readonly mayLeave: boolean
  readonly leaveTokens: boolean
  readonly onLeave: (leave: boolean) => void
}): JSX.Element {
  const hasTokens = money.includes('leaveTokens')
  const others = [...new Set(money.filter((field) => field !== 'balance' && field !== 'leaveTokens'))]
  return (
    <>
      <Notice tone="warn" icon="warn" urgent>
        <strong>{text.title}</strong>
        <p>{text.lead}</p>
        <ul class="how">
          {money.includes('balance') && <InBalance />}
          {others.map((field) => (
            <li key={field}>{isKnown(field) ? text.under[field] : text.other}</li>
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

function InBalance(): JSX.Element {
  const { data } = useLoad<{ balance: Balance }>('/creators/balance')
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

function InWallet({ mayLeave }: { readonly mayLeave: boolean }): JSX.Element {
  const { data } = useLoad<{ tokens: readonly TokenBalance[] }>('/creators/balance/tokens')
  const amounts = data?.tokens.map(({ amount, symbol }) => amountText(amount, symbol)).join(', ')
  return (
    <li>
      {text.tokens(amounts ?? words.loading)} {!mayLeave && text.ask}
    </li>
  )
}

function isKnown(field: string): field is keyof typeof text.under {
  return Object.hasOwn(text.under, field)
}
