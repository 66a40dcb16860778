import type { RecentChanges } from '../../accounts/recent-changes.js'
import type { Config } from '../../platform/config/config.js'
import type { ConfirmationReason } from '../withdrawal.js'
import type { PayeeHistory } from './payees.js'

const daySeconds = 86_400

/**
 * Why the creator must confirm a withdrawal (docs/decisions/0057); null: need not. The first account is free, but not one that was
 * removed. `all`: nor for a new session or device, nor for a second withdrawal while the first is on its way. `sessionAge`: seconds.
 */
export function reasonToConfirm(
  asks: Config['withdrawals']['confirmAccounts'],
  { firstTaken, unconfirmed, oldDevice, trusted, removed, newClient }: PayeeHistory,
  { changed, sessionAge }: Pick<RecentChanges, 'changed'> & { readonly sessionAge: number },
): ConfirmationReason | null {
  if (asks === 'off') return null
  const asksFirst = asks === 'all' && (sessionAge < daySeconds || !oldDevice || unconfirmed)
  if (!trusted && (firstTaken || removed || asksFirst)) return 'new_account'
  if (changed) return 'recent_change'
  return newClient ? 'new_client' : null
}
