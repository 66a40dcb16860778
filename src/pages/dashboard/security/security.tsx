import type { JSX } from 'preact'
import { FaultNotice } from '../parts/fault-notice.js'
import { useSession } from '../session.js'
import { EmailCard } from './email-card.js'
import { AuthenticatorCard } from './factors/authenticator-card.js'
import { PasskeysCard } from './factors/passkeys-card.js'
import { RecoveryCard } from './factors/recovery-card.js'
import { PasswordCard } from './password-card.js'
import { SessionsCard } from './sessions-card.js'
import { TipMailsCard } from './tip-mails-card.js'

/** Who can sign in to the account, and how. */
export function SecurityScreen(): JSX.Element {
  const { security, refresh } = useSession()
  if (security === undefined) return <FaultNotice fault="service_unavailable" tone="warn" onRetry={refresh} />
  return (
    <div class="columns">
      <div class="columns__stack">
        <PasswordCard security={security} />
        <PasskeysCard security={security} />
        <AuthenticatorCard security={security} />
        {(security.totp || security.passkeys > 0) && <RecoveryCard security={security} />}
      </div>
      <div class="columns__stack">
        <SessionsCard />
        <EmailCard security={security} />
        <TipMailsCard security={security} />
      </div>
    </div>
  )
}
