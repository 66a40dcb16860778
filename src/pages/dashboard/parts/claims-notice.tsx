import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { usd } from '../../lib/money.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Balance } from '../answers.js'

/** Says what the creator owes and what payers dispute, and what happens next. Renders nothing without such a case. */
export function ClaimsNotice({ balance }: { readonly balance: Balance | undefined }): JSX.Element | null {
  const { owedUSDC = 0, disputedUSDC = 0 } = balance ?? {}
  if (owedUSDC === 0 && disputedUSDC === 0) return null
  return (
    <>
      {owedUSDC > 0 && (
        <Notice tone="warn" icon="warn">
          <strong>{words.claims.owed(usd(owedUSDC))}</strong>
          <p>{words.claims.owedMore}</p>
        </Notice>
      )}
      {disputedUSDC > 0 && (
        <Notice tone="warn" icon="wait">
          <strong>{words.claims.disputed(usd(disputedUSDC))}</strong>
          <p>{words.claims.disputedMore}</p>
        </Notice>
      )}
    </>
  )
}
