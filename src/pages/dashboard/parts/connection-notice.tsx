import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { Notice } from '../../ui/messages/notice.js'
import { useConnection } from '../connection.js'

/** Says that the service cannot be reached, and when it can be again. */
export function ConnectionNotice(): JSX.Element {
  const state = useConnection()
  return (
    <>
      <Announcer text={state === 'back' ? words.connection.back : ''} />
      {state !== 'good' && (
        <div class="connection">
          <Notice
            tone={state === 'back' ? 'good' : 'warn'}
            icon={state === 'back' ? 'tick' : 'offline'}
            urgent={state !== 'back'}
          >
            {words.connection[state]}
          </Notice>
        </div>
      )}
    </>
  )
}
