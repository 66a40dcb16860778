import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import type { OpenSession } from '../answers.js'
import { call } from '../api.js'
import { agoText, useNow } from '../dates.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useKeptFocus } from '../parts/use-kept-focus.js'
import type { Loaded } from '../use-load.js'
import { useSubmit } from '../use-submit.js'
import { useProtect } from './reauthentication.js'
import { describeUserAgent } from './user-agent.js'

export const sessionsPath = '/auth/sessions'

export interface Sessions {
  readonly sessions: readonly OpenSession[]
}

/** The sessions of the account: ends one, or all but this one. */
export function SessionsCard({
  sessions: { data, fault, reload },
}: {
  readonly sessions: Loaded<Sessions>
}): JSX.Element {
  const protect = useProtect()
  const [announcement, setAnnouncement] = useState('')
  const end = useSubmit(async (id?: string) => {
    const path = id === undefined ? sessionsPath : `${sessionsPath}/${id}`
    // Not a code of the app: one sign-in is enough to end several, and each code counts once.
    await protect(() => call('DELETE', path), 'sign-in')
    setAnnouncement(id === undefined ? words.sessions.othersEnded : words.sessions.ended)
    reload()
  })
  const heading = useKeptFocus(announcement !== '', data)
  const failed = end.fault ?? (data === undefined ? fault : undefined)
  const alone = data?.sessions.every(({ current }) => current) ?? false
  return (
    <section class="card" aria-labelledby="sessions-title">
      <h2 id="sessions-title" ref={heading} tabIndex={-1}>
        {words.sessions.title}
      </h2>
      <p class="quiet">{alone ? words.sessions.alone : words.sessions.lead}</p>
      <Announcer text={announcement} />
      <FaultNotice fault={failed} onRetry={data === undefined ? reload : undefined} />
      <SessionList sessions={data?.sessions ?? []} onEnd={({ id }) => end.run(id)} />
      {data !== undefined && !alone && (
        <Button busy={end.busy} onPress={() => end.run()}>
          {words.sessions.endOthers}
        </Button>
      )}
    </section>
  )
}

function SessionList({
  sessions,
  onEnd,
}: {
  readonly sessions: readonly OpenSession[]
  readonly onEnd: (session: OpenSession) => void
}): JSX.Element {
  const now = useNow()
  return (
    <ul class="rows">
      {sessions.map((session) => {
        const name = describeUserAgent(session.userAgent) ?? words.sessions.unknown
        return (
          <li key={session.id} class="rows__row key">
            <span class="key__what">
              <bdi class="key__label">{name}</bdi>
              {session.current && <strong class="key__mark">{words.sessions.current}</strong>}
              <span class="quiet">
                {words.sessions.used(agoText(session.lastUsedAt, now))} ·{' '}
                {words.sessions.opened(agoText(session.createdAt, now))}
                {session.network !== null && ` · ${words.sessions.from(session.network)}`}
              </span>
            </span>
            {!session.current && (
              <button
                type="button"
                class="copy copy--bad"
                aria-label={words.sessions.endWhat(name, agoText(session.lastUsedAt, now))}
                onClick={() => onEnd(session)}
              >
                {words.sessions.end}
              </button>
            )}
          </li>
        )
      })}
    </ul>
  )
}
