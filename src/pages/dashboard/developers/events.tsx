import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { ngn, usd } from '../../lib/money.js'
import { amountText } from '../../lib/tip-text.js'
import type { EventsPage, LoggedEvent, StreamedEvent } from '../answers.js'
import { call } from '../api.js'
import { agoText, momentText, useNow } from '../dates.js'
import { Card } from '../parts/cards.js'
import { Loading } from '../parts/notices.js'
import { useSession } from '../session.js'

/** The newest events of the log, live. Each opens to what the integrator's server gets. */
export function Events() {
  const { events, connected } = useEvents()
  const now = useNow()
  const text = words.log
  return (
    <Card
      name="events"
      title={
        <>
          {text.title}{' '}
          {connected !== undefined && (
            <span class={`status status--${connected ? 'good' : 'warn'}`}>
              {words.live.states[connected ? 'on' : 'off']}
            </span>
          )}
        </>
      }
      lead={text.lead}
      class="columns__wide"
    >
      {events === undefined && <Loading />}
      {events?.length === 0 && <p class="empty">{text.none}</p>}
      <ul class="rows">
        {events?.map((event) => (
          <li key={event.id} class="rows__row">
            <details>
              <summary class="tip-row">
                <span class="row__what">
                  <span class="strong">
                    {event.type} <span class="quiet">#{event.sequence}</span>
                  </span>
                  <bdi class="quiet">{aboutText(event)}</bdi>
                </span>
                <time class="quiet" dateTime={event.timestamp} title={momentText(event.timestamp)}>
                  {agoText(event.timestamp, now)}
                </time>
              </summary>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
              <pre class="secret" tabIndex={0}>
                <code>{JSON.stringify(event, undefined, 2)}</code>
              </pre>
            </details>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const shown = 20
const reconnectMs = 10_000

/** The newest events, newest first, and each that comes. Undefined: not known yet. */
function useEvents() {
  const { signIns } = useSession()
  const [events, setEvents] = useState<readonly LoggedEvent[]>()
  const [connected, setConnected] = useState<boolean>()
  const [reconnects, setReconnects] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    const source = new EventSource('/creators/stream')
    let timer: ReturnType<typeof setTimeout> | undefined
    const add = (more: readonly LoggedEvent[]): void => setEvents((before = []) => merge(before, more))
    const lost = (): void => {
      if (stop.signal.aborted) return
      setConnected(false)
      source.close()
      timer = setTimeout(() => setReconnects((before) => before + 1), reconnectMs)
    }
    source.onmessage = ({ data }: MessageEvent<string>) => {
      const event: StreamedEvent = JSON.parse(data)
      setConnected(true)
      if ('id' in event) return add([event])
      // The stream begins now. What was before is read once.
      const path = `/creators/events?limit=${shown}&after=${Math.max(0, event.sequence - shown)}`
      call<EventsPage>('GET', path, { signal: stop.signal }).then((page) => add(page.events), lost)
    }
    source.onerror = lost
    return () => {
      stop.abort()
      source.close()
      clearTimeout(timer)
    }
  }, [signIns, reconnects])
  return { events, connected }
}

function merge(before: readonly LoggedEvent[], more: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const bySequence = new Map([...before, ...more].map((event) => [event.sequence, event]))
  return [...bySequence.values()].sort((a, b) => b.sequence - a.sequence).slice(0, shown)
}

/** What an event is about: the amount and whose it is, and the reference. */
function aboutText({ data }: LoggedEvent): string {
  const { amount, tokenSymbol, sender, amountNGN, availableUSDC, reference } = data
  const parts = [
    typeof amount === 'number' &&
      typeof tokenSymbol === 'string' &&
      words.log.what(amountText(amount, tokenSymbol), String(sender)),
    typeof amountNGN === 'number' && ngn(amountNGN),
    typeof availableUSDC === 'number' && words.log.available(usd(availableUSDC)),
    reference,
  ]
  return parts.filter((part) => typeof part === 'string').join(' · ')
}
