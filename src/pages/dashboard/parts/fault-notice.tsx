import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Notice } from '../../ui/messages/notice.js'

/** The text of an error code, with a retry link if there is `onRetry`. Renders nothing without a fault. */
export function FaultNotice({
  fault,
  tone = 'bad',
  onRetry,
}: {
  /** An error code of the API or of the dashboard. */
  readonly fault: string | undefined
  /** `bad`: the action was not done; `warn`: something could not be read. */
  readonly tone?: 'bad' | 'warn'
  readonly onRetry?: (() => void) | undefined
}): JSX.Element | null {
  if (fault === undefined) return null
  return (
    <Notice tone={tone} icon="warn" urgent>
      {words.fault(fault)}
      {onRetry !== undefined && (
        <>
          {' '}
          <button type="button" class="link" onClick={onRetry}>
            {words.tryAgain}
          </button>
        </>
      )}
    </Notice>
  )
}
