import test from 'ava'
import { type EventType, eventTypes } from '../../src/events/event.js'
import {
  createBackendClient,
  type EventsRequest,
  type EventTip,
  TippingError,
  type TippingEvent,
} from '../../src/sdk/client/index.js'
import type { CreatorTip } from '../../src/tips/read/creator-schemas.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { fillEventLog } from '../helpers/make/many-events.js'
import { type Embedder, registerEmbedder } from '../helpers/make/sdk.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)

/** Closes each connection, because the leak check counts kept connections. */
const once: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...init?.headers, connection: 'close' } })

const clientOf = ({ apiKey }: Embedder, ownFetch: typeof fetch = once) =>
  createBackendClient({ baseUrl: world().url, apiKey, fetch: ownFetch })

/** Reads until the test has seen enough. Returns what was read, and what ends the reading. */
function read(client: ReturnType<typeof clientOf>, request: EventsRequest = {}) {
  const seen: TippingEvent[] = []
  const stop = new AbortController()
  const reading = (async () => {
    for await (const event of client.events({ ...request, signal: stop.signal })) seen.push(event)
  })()
  return {
    seen,
    end() {
      stop.abort()
      return reading
    },
  }
}

/** Each confirmed tip is three events. */
const tipCreator = ({ wallet }: Embedder, tips: number) =>
  createConfirmedTips(
    world(),
    Array.from({ length: tips }, () => someConfirmation(wallet)),
  )
const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

test('events come as they happen, across pages, and after continues where a reader stopped', async (t) => {
  const creator = await registerEmbedder(world())
  await tipCreator(creator, 60)
  const first = read(clientOf(creator))
  await until('the 121 events of the first tips', () => first.seen.length === 121)
  await tipCreator(creator, 1)
  await until('the events of the next tip', () => first.seen.length === 124)
  await first.end()
  t.deepEqual(
    first.seen.map(({ sequence }) => sequence),
    oneTo(124),
  )
  const { body } = await world().request<{ events: TippingEvent[] }>('GET', '/creators/events?after=121', {
    bearer: creator.apiKey,
  })
  t.deepEqual(first.seen.slice(121), body.events)
  const rest = read(clientOf(creator), { after: 122 })
  await until('the last two events', () => rest.seen.length === 2)
  await rest.end()
  t.deepEqual(rest.seen, first.seen.slice(122))
})

test('only the chosen types come', async (t) => {
  const creator = await registerEmbedder(world())
  await tipCreator(creator, 3)
  const { seen, end } = read(clientOf(creator), { types: ['tip.confirmed', 'withdrawal.*'] })
  await until('three events', () => seen.length === 3)
  await end()
  t.true(seen.every((event) => event.type === 'tip.confirmed' && event.data.receivedAmount === 0.98))
})

test('a rare type comes from behind thousands of other events', async (t) => {
  const creator = await registerEmbedder(world())
  await fillEventLog(world(), creator.user.id, 120_001)
  const { seen, end } = read(clientOf(creator), { types: ['ping'] })
  await until('the ping', () => seen.length === 1)
  await end()
  t.like(seen, [{ type: 'ping', sequence: 120_001 }])
})

test('after failures of every temporary kind no event is missing and none comes twice', async (t) => {
  const creator = await registerEmbedder(world())
  let calls = 0
  const broken: (() => Promise<Response>)[] = [
    () => Promise.reject(new TypeError('the network is unavailable')),
    async () =>
      Response.json(
        { success: false, error: 'Service unavailable', code: 'service_unavailable', requestId: '1' },
        { status: 503 },
      ),
    async () => new Response('<html>', { status: 502 }),
    async () => new Response(new ReadableStream({ start: (body) => body.error(new Error('reset')) })),
    // A process that stops answers a waiting request at once.
    async () => Response.json({ success: true, events: [], after: 0, hasMore: false }),
  ]
  const flaky: typeof fetch = (input, init) => {
    const fault = calls % 2 === 0 ? broken[calls / 2] : undefined
    calls += 1
    return fault === undefined ? once(input, init) : fault()
  }
  const { seen, end } = read(clientOf(creator, flaky))
  for (const round of oneTo(5)) {
    await tipCreator(creator, 1)
    await until('the events of this round', () => seen.length === 3 * round)
  }
  await end()
  t.true(calls >= 10)
  t.deepEqual(
    seen.map(({ sequence }) => sequence),
    oneTo(15),
  )
})

test('a refusal is thrown, and an abort ends a waiting request without an error', async (t) => {
  const creator = await registerEmbedder(world())
  const wrong = clientOf({ ...creator, apiKey: 'tk_live_unknown' })
  t.like(await t.throwsAsync(wrong.events().next(), { instanceOf: TippingError }), {
    code: 'invalid_api_key',
  })
  let waiting = false
  const observed: typeof fetch = (input, init) => {
    waiting = true
    return once(input, init)
  }
  const { seen, end } = read(clientOf(creator, observed))
  await until('the request waits', () => waiting)
  await end()
  t.deepEqual(seen, [])
})

test('the types of the client are those of the service', (t) => {
  // The compiler checks these three.
  const types: readonly TippingEvent['type'][] = eventTypes
  const back: readonly EventType[] = types
  const tipOf = (tip: CreatorTip): { [Name in keyof EventTip]: EventTip[Name] | undefined } => tip
  t.is(back.map((type) => typeof type).length, eventTypes.length)
  t.is(typeof tipOf, 'function')
})
