import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { usd } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import type { Balance } from '../answers.js'
import { go } from '../route.js'

/** The creator's USDC, in dollars. */
export function BalanceCard({
  balance,
  fault,
  onRetry,
}: {
  readonly balance: Balance | undefined
  readonly fault: string | undefined
  readonly onRetry: () => void
}): JSX.Element {
  const amount = (of: number | undefined): string => (of === undefined ? '–' : usd(of))
  return (
    <section class="card balance" aria-label={words.balance.title}>
      <dl class="balance__figures">
        <div class="balance__available">
          <dt>{words.balance.available}</dt>
          <dd class="number balance__most">{amount(balance?.availableUSDC)}</dd>
          <dd class="quiet">{words.balance.availableHint}</dd>
        </div>
        <div>
          <dt>{words.balance.pending}</dt>
          <dd class="number balance__less">{amount(balance?.pendingUSDC)}</dd>
          <dd class="quiet">{words.balance.pendingHint}</dd>
        </div>
        <div>
          <dt>{words.balance.held}</dt>
          <dd class="number balance__less">{amount(balance?.heldUSDC)}</dd>
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
    </section>
  )
}
