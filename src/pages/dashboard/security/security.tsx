import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useSession } from '../session.js'
import { useLoad } from '../use-load.js'
import { CloseCard } from './closing/close-card.js'
import { DataCard } from './data-card.js'
import { EmailCard } from './email-card.js'
import { AuthenticatorCard } from './factors/authenticator-card.js'
import { type Passkeys, PasskeysCard } from './factors/passkeys-card.js'
import { RecoveryCard } from './factors/recovery-card.js'
import { PasswordCard } from './password-card.js'
import { type Sessions, SessionsCard, sessionsPath } from './sessions-card.js'
import { TipMailsCard } from './tip-mails-card.js'

/** Who can sign in to the account, and how. */
export function SecurityScreen(): JSX.Element {
  const { security, refresh } = useSession()
  const sessions = useLoad<Sessions>(sessionsPath)
  const passkeys = useLoad<Passkeys>('/auth/passkeys')
  if (security === undefined) return <FaultNotice fault="service_unavailable" tone="warn" onRetry={refresh} />
  // All cards at once: a list that comes later would move those below.
  if ([sessions, passkeys].some(({ data, fault }) => data === undefined && fault === undefined))
    return <p class="quiet">{words.loading}</p>
  return (
    <div class="columns">
      <div class="columns__stack">
        <PasswordCard security={security} />
        <PasskeysCard security={security} passkeys={passkeys} />
        <AuthenticatorCard security={security} />
        {(security.totp || security.passkeys > 0) && <RecoveryCard security={security} />}
      </div>
      <div class="columns__stack">
        <SessionsCard sessions={sessions} />
        <EmailCard security={security} />
        <TipMailsCard security={security} />
      </div>
      <DataCard />
      <CloseCard security={security} />
    </div>
  )
}
