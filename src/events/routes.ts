import type { Context } from 'koa'
import { credentialOf, findValidCredentials, ownerOf, perOwner, requireOwner } from '../creators/auth.js'
import { type Route, route, streamRoute } from '../http/endpoint.js'
import { noStore } from '../http/security/response-headers.js'
import type { HeartbeatWheel } from '../http/sse.js'
import { waitForRow } from '../platform/database/wait-for-row.js'
import { singleFlight } from '../platform/single-flight.js'
import type { Services } from '../services.js'
import { eventChannel, presentEvent, type StoredEvent } from './event.js'
import { eventStream, newestSequence, readEventPage } from './read-events.js'
import {
  type EventsInput,
  eventStreamInput,
  eventStreamOutput,
  eventsInput,
  eventsOutput,
} from './schemas.js'
import { createLiveStreams } from './stream.js'
import { StreamHub } from './stream-hub.js'

type Needs = Pick<Services, 'config' | 'db' | 'reads' | 'notifications' | 'log' | 'metrics'>

/** A lost notification delays a waiting poll by at most this time. */
const rereadMs = 3000
/** Reads of one poll that find no event of its types, each on from the one before. */
const mostLooks = 10
/** With the time that the statement takes, a stream ends within a minute after its credential. */
const credentialCheckMs = 30_000

export interface EventReaders {
  readonly routes: readonly Route[]
  /** Answers waiting polls and ends the streams. */
  close(): Promise<void>
}

/**
 * The readers of the event log: a list with a long poll, and a stream. Webhooks are in src/webhooks. `checkMs`: how often the credentials
 * of open streams are checked; only tests pass another value.
 */
export function createEventReaders(
  services: Needs,
  wheel: HeartbeatWheel,
  checkMs = credentialCheckMs,
): EventReaders {
  const { db, reads, notifications, log } = services
  const hub = new StreamHub(services, eventStream)
  const streams = createLiveStreams(services, hub, wheel)
  const closing = new AbortController()
  const guards = [noStore, requireOwner(services)]

  // While the database does not answer, no event is sent either.
  const check = singleFlight(() =>
    streams
      .endInvalid((credentials) => findValidCredentials(db, credentials))
      .catch((err: unknown) => log.warn({ err }, 'the credentials of open streams could not be checked')),
  )
  let checking = Promise.resolve()
  const timer = setInterval(() => {
    checking = check()
  }, checkMs)
  timer.unref()

  async function list({ after, types, limit, wait }: EventsInput, ctx: Context) {
    const userId = ownerOf(ctx)
    const left = new AbortController()
    ctx.res.once('close', () => left.abort())
    let page = { events: [] as readonly StoredEvent[], after, hasMore: false }
    const read = async () => {
      for (let looks = 0; looks < mostLooks; looks++) {
        page = await reads((reader) => readEventPage(reader, userId, { after: page.after, types, limit }))
        if (page.events.length > 0) return page
        if (!page.hasMore) return undefined
      }
      return page
    }
    await waitForRow(read, {
      notifications,
      channel: eventChannel(userId),
      totalMs: wait * 1000,
      rereadMs,
      signal: AbortSignal.any([left.signal, closing.signal]),
    })
    return { ...page, events: page.events.map(presentEvent) }
  }

  async function findStart(userId: string) {
    const sequence = await newestSequence(db, userId)
    return { key: userId, newest: sequence, connected: { status: 'connected', sequence } }
  }

  return {
    routes: [
      route(
        {
          method: 'get',
          path: '/creators/events',
          list: true,
          summary: 'The events of the own account after a sequence number, oldest first',
          credential: 'session-or-key',
          limit: perOwner,
          input: eventsInput,
          invalid: 'invalid_after',
          output: eventsOutput,
          errors: ['invalid_types', 'invalid_limit', 'invalid_wait', 'unauthorized', 'invalid_api_key'],
        },
        list,
        guards,
      ),
      streamRoute(
        {
          method: 'get',
          path: '/creators/stream',
          summary: 'The events of the own account, live',
          credential: 'session-or-key',
          limit: perOwner,
          input: eventStreamInput,
          invalid: 'invalid_after',
          output: eventStreamOutput,
          errors: ['invalid_types', 'unauthorized', 'invalid_api_key'],
          stream: true,
        },
        ({ after, types }, ctx) => {
          // No function here may hold the context: the stream keeps `wants`, and would keep its request.
          const userId = ownerOf(ctx)
          return streams.serve(ctx, () => findStart(userId), {
            after,
            wants: ({ type }) => types.length === 0 || types.some((one) => one === type),
            credential: credentialOf(ctx),
          })
        },
        guards,
      ),
    ],
    async close() {
      closing.abort()
      clearInterval(timer)
      streams.close()
      await checking
      await hub.close()
    },
  }
}
