import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Announcer, Button, Notice } from '../../ui/kit.js'
import type { DataExport, Passkeys, Sessions } from '../answers.js'
import { call } from '../api.js'
import { agoText, useNow } from '../dates.js'
import { Card } from '../parts/cards.js'
import { useKeptFocus } from '../parts/focus.js'
import { FaultNotice, Loading } from '../parts/notices.js'
import { OwnRow } from '../parts/rows.js'
import { type Loaded, useLoad, useSubmit } from '../requests.js'
import { useSession } from '../session.js'
import { CloseCard } from './closing.js'
import { EmailCard, PasswordCard } from './credentials.js'
import { AuthenticatorCard, PasskeysCard, RecoveryCard } from './factors.js'
import { useProtect } from './reauthentication.js'
import { describeUserAgent } from './user-agent.js'

const sessionsPath = '/auth/sessions'

export function SecurityScreen() {
  const { security, refresh } = useSession()
  const sessions = useLoad<Sessions>(sessionsPath)
  const passkeys = useLoad<Passkeys>('/auth/passkeys')
  if (security === undefined) return <FaultNotice fault="service_unavailable" tone="warn" onRetry={refresh} />
  // All cards at once: a list that comes later would move those below.
  if (!sessions.isOver || !passkeys.isOver) return <Loading />
  return (
    <div class="columns">
      <div class="stack">
        <PasswordCard security={security} />
        <PasskeysCard security={security} passkeys={passkeys} />
        <AuthenticatorCard security={security} />
        {(security.totp || security.passkeys > 0) && <RecoveryCard security={security} />}
      </div>
      <div class="stack">
        <SessionsCard sessions={sessions} />
        <EmailCard security={security} />
      </div>
      <DataCard />
      <CloseCard security={security} />
    </div>
  )
}

function SessionsCard({ sessions: { data, unread, reload } }: { readonly sessions: Loaded<Sessions> }) {
  const protect = useProtect()
  const now = useNow()
  const [announcement, setAnnouncement] = useState('')
  const end = useSubmit(async (id?: string) => {
    const path = id === undefined ? sessionsPath : `${sessionsPath}/${id}`
    // Not a code of the app: one sign-in is enough to end several, and each code counts once.
    await protect(() => call('DELETE', path), 'sign-in')
    setAnnouncement(id === undefined ? words.sessions.othersEnded : words.sessions.ended)
    reload()
  })
  const heading = useKeptFocus(announcement !== '', data)
  const alone = data?.sessions.every(({ current }) => current) ?? false
  const text = words.sessions
  return (
    <Card name="sessions" title={text.title} heading={heading} lead={alone ? text.alone : text.lead}>
      <Announcer text={announcement} />
      <FaultNotice fault={end.fault ?? unread} onRetry={data === undefined ? reload : undefined} />
      <ul class="rows">
        {data?.sessions.map(({ id, current, userAgent, lastUsedAt, createdAt, network }) => {
          const name = describeUserAgent(userAgent) ?? text.unknown
          const used = agoText(lastUsedAt, now)
          const from = network === null ? '' : ` · ${text.from(network)}`
          return (
            <OwnRow
              key={id}
              label={name}
              mark={current && <strong class="key__mark">{text.current}</strong>}
              more={`${text.used(used)} · ${text.opened(agoText(createdAt, now))}${from}`}
              end={
                current
                  ? undefined
                  : { text: text.end, what: text.endWhat(name, used), onPress: () => end.run(id) }
              }
            />
          )
        })}
      </ul>
      {data !== undefined && !alone && (
        <Button busy={end.busy} text={text.endOthers} onPress={() => end.run()} />
      )}
    </Card>
  )
}

/** Has everything that is stored about the account mailed to its owner. */
function DataCard() {
  const protect = useProtect()
  const [status, setStatus] = useState<DataExport['export']['status']>()
  const ask = useSubmit(async () => {
    const answer = await protect(() => call<DataExport>('GET', '/auth/export'), 'sign-in')
    setStatus(answer.export.status)
  })
  const said = status === undefined ? '' : words.data[status]
  return (
    <Card name="data" title={words.data.title} lead={words.data.lead}>
      <Announcer text={said} />
      {said !== '' && (
        <Notice
          tone={status === 'failed' ? 'bad' : 'plain'}
          icon={status === 'failed' ? 'warn' : 'mail'}
          text={said}
        />
      )}
      <FaultNotice fault={ask.fault} />
      <Button does={ask} text={words.data.submit} />
    </Card>
  )
}
