import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { usdBelow } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import type { Balance, Rate, TokenBalance } from '../answers.js'
import { nairaText, space } from '../parts/use-rate.js'
import { go } from '../route.js'
import { OtherTokens } from './other-tokens.js'

/** The creator's USDC in dollars and naira, and the other tokens in the wallet. */
export function BalanceCard({
  balance,
  rate,
  tokens,
  fault,
  onRetry,
}: {
  readonly balance: Balance | undefined
  readonly rate: Rate | undefined
  readonly tokens: readonly TokenBalance[]
  readonly fault: string | undefined
  readonly onRetry: () => void
}): JSX.Element {
  return (
    <section class="card balance" aria-label={words.balance.title}>
      <dl class="balance__figures">
        <div class="balance__available">
          <dt>{words.balance.available}</dt>
          <Amount of={balance?.availableUSDC} rate={rate} most />
          <dd class="quiet">{words.balance.availableHint}</dd>
        </div>
        <div>
          <dt>{words.balance.pending}</dt>
          <Amount of={balance?.pendingUSDC} rate={rate} />
          <dd class="quiet">{words.balance.pendingHint}</dd>
        </div>
        <div>
          <dt>{words.balance.held}</dt>
          <Amount of={balance?.heldUSDC} rate={rate} />
          <dd class="quiet">{words.balance.heldHint}</dd>
        </div>
      </dl>
      <div class="balance__act">
        {fault !== undefined && balance === undefined && (
          <p class="quiet" role="alert">
            {words.fault(fault)}{' '}
            <button type="button" class="link" onClick={onRetry}>
              {words.tryAgain}
            </button>
          </p>
        )}
        <Button kind="primary" onPress={() => go('withdraw')}>
          {words.balance.withdraw} <kbd>w</kbd>
        </Button>
      </div>
      <OtherTokens tokens={tokens} />
    </section>
  )
}

function Amount({
  of,
  rate,
  most = false,
}: {
  readonly of: number | undefined
  readonly rate: Rate | undefined
  readonly most?: boolean
}): JSX.Element {
  const naira = nairaText(of, rate)
  return (
    <>
      <dd class={`number ${most ? 'balance__most' : 'balance__less'}`}>
        {of === undefined ? '–' : usdBelow(of)}
      </dd>
      {of !== undefined && of > 0 && <dd class="quiet number">{naira ?? space}</dd>}
    </>
  )
}
