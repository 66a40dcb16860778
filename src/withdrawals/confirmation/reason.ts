import type { RecentChanges } from '../../accounts/recent-changes.js'
import type { ConfirmationReason } from '../withdrawal.js'
import type { PayeeHistory } from './payees.js'

/**
 * Why the creator must confirm a withdrawal (docs/decisions/0057); null: need not. The first accounts are free until a
 * withdrawal was accepted, but not one that was removed.
 */
export function reasonToConfirm(
  { hasWithdrawn, trusted, removed, newClient }: PayeeHistory,
  { changed }: Pick<RecentChanges, 'changed'>,
): ConfirmationReason | null {
  if (!trusted && (hasWithdrawn || removed)) return 'new_account'
  if (changed) return 'recent_change'
  return newClient ? 'new_client' : null
}
