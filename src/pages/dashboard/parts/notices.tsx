import { words } from '../../i18n/dashboard.js'
import { usd } from '../../lib/money.js'
import { Notice, TextButton } from '../../ui/kit.js'
import type { Balance } from '../answers.js'
import type { Loaded } from '../requests.js'
import { ScreenLink } from './links.js'

interface FaultNoticeProps {
  /** An error code of the API or of the dashboard. */
  fault: string | undefined
  /** `bad`: the action was not done; `warn`: something could not be read. */
  tone?: 'bad' | 'warn'
  onRetry?: (() => void) | undefined
}

/** The text of an error code, with a retry link if there is `onRetry`. Renders nothing without a fault. */
export function FaultNotice({ fault, tone = 'bad', onRetry }: FaultNoticeProps) {
  if (fault === undefined) return null
  return (
    <Notice tone={tone} icon="warn" urgent>
      {words.fault(fault)} {onRetry && <TextButton text={words.tryAgain} onPress={onRetry} />}
    </Notice>
  )
}

export function Loading() {
  return <p class="quiet">{words.loading}</p>
}

/** In place of what could not be read yet. */
export function Unread({ of: { fault, reload } }: { of: Pick<Loaded<unknown>, 'fault' | 'reload'> }) {
  if (fault === undefined) return <Loading />
  return <FaultNotice fault={fault} tone="warn" onRetry={reload} />
}

/** Says what the creator owes and what payers dispute, and what happens next. Renders nothing without such a case. */
export function ClaimsNotice({ of }: { readonly of: Loaded<Balance> }) {
  const { owedUSDC = 0, disputedUSDC = 0 } = of.data?.balance ?? {}
  return (
    <>
      {owedUSDC > 0 && (
        <Notice tone="warn" title={words.claims.owed(usd(owedUSDC))} text={words.claims.owedMore} />
      )}
      {disputedUSDC > 0 && (
        <Notice
          tone="warn"
          icon="wait"
          title={words.claims.disputed(usd(disputedUSDC))}
          text={words.claims.disputedMore}
        />
      )}
    </>
  )
}

/** Says that new crypto tips go to the creator's own wallet, so no bank pays them out. */
export function StraightToWallet() {
  return (
    <Notice tone="plain" icon="wallet">
      {words.straightToWallet} <ScreenLink to="settings">{words.screens.settings}</ScreenLink>
    </Notice>
  )
}
