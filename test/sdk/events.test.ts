import test, { type ExecutionContext } from 'ava'
import { revokeApiKey } from '../../src/creators/api-keys.js'
import { createBackendClient } from '../../src/sdk/client/index.js'
import { confirmTips } from '../../src/tips/confirm/confirm-tips.js'
import { createConfirmedTips, someConfirmation, storePendingTips } from '../helpers/make/confirmed-tips.js'
import { type Embedder, registerEmbedder } from '../helpers/make/sdk.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { seededRandom, seededRuns } from '../helpers/random.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

interface EventBody {
  readonly eventId: string
  readonly type: string
  readonly amountUsdc: number
  readonly amountRaw: number
  readonly receivedAmount: number
  readonly tokenSymbol: string
  readonly sender: string
  readonly timestamp: string
  readonly txSignature: string
}

function getEvents(bearer: string | undefined, query: Record<string, string>) {
  return world().request<{ events: EventBody[]; hasMore: boolean; error: string }>(
    'GET',
    `/sdk/events?${new URLSearchParams(query)}`,
    {
      ...(bearer === undefined ? {} : { bearer }),
    },
  )
}
const eventsOf = async ({ id, apiKey }: Embedder, range: Record<string, string> = {}) =>
  (await getEvents(apiKey, { creatorId: id, ...range })).body.events

async function confirmNumber(wallet: string, count: number): Promise<string[]> {
  const confirmations = Array.from({ length: count }, () => someConfirmation(wallet))
  await createConfirmedTips(world(), confirmations)
  return confirmations.map(({ id }) => id)
}

test('since and before are exclusive, and at most fifty events come, newest first', async (t) => {
  const embedder = await registerEmbedder(world())
  const ids = await confirmNumber(embedder.wallet, 120)
  const first = await getEvents(embedder.apiKey, { creatorId: embedder.id })
  t.true(first.body.hasMore)
  const newest = first.body.events
  t.is(newest.length, 50)
  const stamps = newest.map(({ timestamp }) => timestamp)
  t.deepEqual(stamps, [...new Set(stamps)].sort().reverse())
  const middle = await eventsOf(embedder, { before: stamps.at(-1) ?? '' })
  const oldest = await eventsOf(embedder, { before: middle.at(-1)?.timestamp ?? '' })
  t.deepEqual([middle.length, oldest.length], [50, 20])
  const rest = { creatorId: embedder.id, before: middle[29]?.timestamp ?? '' }
  t.false((await getEvents(embedder.apiKey, { ...rest, since: oldest[0]?.timestamp ?? '' })).body.hasMore)
  t.true(
    (await getEvents(embedder.apiKey, { creatorId: embedder.id, before: stamps[29] ?? '' })).body.hasMore,
  )
  t.false(
    (await getEvents(embedder.apiKey, { creatorId: embedder.id, before: middle[19]?.timestamp ?? '' })).body
      .hasMore,
  )
  t.is(
    (await eventsOf(embedder, { since: `${stamps[0]?.slice(0, -1)}9Z` })).length,
    0,
    'between two milliseconds',
  )
  t.is(
    (await eventsOf(embedder, { before: `${stamps[49]?.slice(0, -1)}9Z`, since: middle[0]?.timestamp ?? '' }))
      .length,
    1,
  )
  const all = [...newest, ...middle, ...oldest].map(({ eventId }) => eventId)
  t.deepEqual(all.toSorted(), ids.toSorted())
  t.deepEqual(await eventsOf(embedder, { since: stamps[0] ?? '' }), [])
  t.deepEqual(
    (await eventsOf(embedder, { since: stamps[3] ?? '' })).map(({ eventId }) => eventId),
    all.slice(0, 3),
  )
  const between = await eventsOf(embedder, { since: stamps[5] ?? '', before: stamps[2] ?? '' })
  t.deepEqual(
    between.map(({ eventId }) => eventId),
    all.slice(3, 5),
  )
  t.deepEqual(await eventsOf(embedder, { since: '9999-12-31T23:59:59Z' }), [])
})

test("a key cannot read another creator's events", async (t) => {
  const [reader, other] = await Promise.all([registerEmbedder(world()), registerEmbedder(world())])
  await confirmNumber(other.wallet, 3)
  const [own = ''] = await confirmNumber(reader.wallet, 1)
  for (const creatorId of [other.id, `auth_${other.id}`, other.wallet, unusedWallet(), 'nobody']) {
    const answer = await getEvents(reader.apiKey, { creatorId })
    t.is(answer.status, 200, creatorId)
    t.deepEqual(answer.body.events, [], creatorId)
  }
  for (const creatorId of [reader.id, `auth_${reader.id}`, reader.wallet]) {
    const { events } = (await getEvents(reader.apiKey, { creatorId })).body
    t.deepEqual(
      events.map(({ eventId }) => eventId),
      [own],
    )
  }
})

test('a revoked key, a cookie, an access token and a session token are refused', async (t) => {
  const { id, apiKey, keyId, session, accessToken } = await registerEmbedder(world())
  const path = `/sdk/events?creatorId=${id}&apiKey=${apiKey}`
  for (const options of [
    { session },
    { bearer: accessToken },
    { bearer: session },
    { session, bearer: accessToken },
  ])
    t.is((await world().request('GET', path, options)).status, 401)
  t.is((await world().request('GET', path, { bearer: apiKey })).status, 200)
  await revokeApiKey(world().services, id, keyId)
  t.is((await world().request('GET', path, { bearer: apiKey })).status, 401)
})

const tips = 2000
const writers = 10
const pollTimeoutMs = 150_000

/** Polls with a client until it has all events. An event that comes twice fails the test. */
async function poll(t: ExecutionContext, { id, apiKey }: Embedder, pollMs: number): Promise<Set<string>> {
  const seen = new Set<string>()
  const { tipEvents } = createBackendClient({ baseUrl: world().url, apiKey })
  const signal = AbortSignal.timeout(pollTimeoutMs)
  for await (const { eventId } of tipEvents({ creatorId: id, pollMs, signal })) {
    t.false(seen.has(eventId), 'seen twice')
    seen.add(eventId)
    if (seen.size === tips) break
  }
  return seen
}

test('while ten writers confirm two thousand tips, three pollers get every event exactly once', async (t) => {
  const random = seededRandom(seededRuns(t).seed)
  const embedder = await registerEmbedder(world())
  const confirmations = Array.from({ length: tips }, () => someConfirmation(embedder.wallet))
  await storePendingTips(world(), confirmations)
  const queue = [...confirmations]

  async function write(): Promise<void> {
    while (queue.length > 0)
      await confirmTips(world().services, queue.splice(0, 1 + Math.floor(random() * 40)))
  }
  const startedAt = performance.now()
  const pollers = [1, 20, 100].map((pollMs) => poll(t, embedder, pollMs))
  await Promise.all(Array.from({ length: writers }, write))
  const writtenMs = performance.now() - startedAt
  const all = confirmations.map(({ id }) => id).toSorted()
  for (const seen of await Promise.all(pollers)) t.deepEqual([...seen].toSorted(), all)
  t.log(
    `written in ${Math.round(writtenMs)} ms, seen by all in ${Math.round(performance.now() - startedAt)} ms`,
  )
})

test.serial(
  'an internal error of GET /sdk/events has its own code and text, other endpoints the general one',
  async (t) => {
    const { id, apiKey } = await registerEmbedder(world())
    await world().db.raw('alter table tips rename column display_raw to gone')
    t.teardown(() => world().db.raw('alter table tips rename column gone to display_raw'))
    const events = await world().request('GET', `/sdk/events?creatorId=${id}`, { bearer: apiKey })
    t.is(events.status, 500)
    t.like(events.body, { error: 'Failed to fetch verified events', code: 'events_failed' })
    const list = await world().request('GET', `/chain/tips?address=${id}`)
    t.is(list.status, 500)
    t.is(list.body.error, 'Internal Server Error')
  },
)
