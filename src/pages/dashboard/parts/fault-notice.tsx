import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Notice } from '../../ui/notice.js'

/** What went wrong, in words, and the way to ask again where there is one. Nothing where nothing went wrong. */
export function FaultNotice({
  fault,
  tone = 'bad',
  onRetry,
}: {
  /** The service's code. */
  readonly fault: string | undefined
  /** `bad`: what was asked for was not done; `warn`: something could not be read. */
  readonly tone?: 'bad' | 'warn'
  readonly onRetry?: () => void
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
