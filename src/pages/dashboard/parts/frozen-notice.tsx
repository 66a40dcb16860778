import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Notice } from '../../ui/messages/notice.js'
import { useSession } from '../session.js'

/** Says that the account is frozen, what still works and who unfreezes it. */
export function FrozenNotice(): JSX.Element | null {
  const { security } = useSession()
  if (security === undefined || security.frozenAt === null) return null
  return (
    <div class="connection">
      <Notice tone="warn" icon="warn" urgent>
        <strong>{words.frozen.title}</strong>
        <p>
          {words.frozen.stops} {words.frozen.works} {words.frozen.remedy}
        </p>
      </Notice>
    </div>
  )
}
