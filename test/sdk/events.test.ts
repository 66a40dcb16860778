import test, { type ExecutionContext } from 'ava'
import { revokeApiKey } from '../../src/creators/api-keys.js'
import { type Token, tokenBySymbol } from '../../src/kernel/tokens.js'
import { createBackendClient } from '../../src/sdk/client/index.js'
import { confirmTips } from '../../src/tips/confirm/confirm-tips.js'
import { createConfirmedTips, someConfirmation, storePendingTips } from '../helpers/make/confirmed-tips.js'
import { type Embedder, registerEmbedder } from '../helpers/make/sdk.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { recordTip, someClaim } from '../helpers/make/tips.js'
import { seededRandom, seededRuns } from '../helpers/random.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)
const token = (symbol: string) => tokenBySymbol(symbol) as Token

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

test('a confirmed tip is an event with the documented fields, and a pending tip is not', async (t) => {
  const embedder = await registerEmbedder(world())
  const inUsdc = someConfirmation(embedder.wallet, { units: 5_000_000n })
  const inSol = someConfirmation(embedder.wallet, { units: 250_000_000n, token: token('SOL') })
  await createConfirmedTips(world(), [inUsdc])
  await createConfirmedTips(world(), [inSol])
  await recordTip(world(), someClaim({ creatorWallet: embedder.wallet }))
  const answer = await getEvents(embedder.apiKey, { creatorId: embedder.id })
  t.is(answer.headers['cache-control'], 'no-store')
  const [newer, older, ...others] = answer.body.events
  t.deepEqual(others, [])
  t.regex(newer?.timestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.true((newer?.timestamp ?? '') > (older?.timestamp ?? ''))
  t.deepEqual(newer, {
    eventId: inSol.id,
    type: 'tip_completed',
    amountUsdc: 0,
    amountRaw: 250_000_000,
    receivedAmount: 0.245,
    tokenSymbol: 'SOL',
    sender: inSol.facts.sender,
    timestamp: newer?.timestamp ?? '',
    txSignature: inSol.id,
  })
  t.like(older, {
    eventId: inUsdc.id,
    amountUsdc: 5,
    amountRaw: 5_000_000,
    receivedAmount: 4.9,
    tokenSymbol: 'USDC',
  })
})

test('errors come in the order: no key, creatorId, since and before, unknown key', async (t) => {
  const { id, apiKey } = await registerEmbedder(world())
  const unknown = `tk_live_${'0'.repeat(16)}_${'x'.repeat(43)}`
  const table: [bearer: string | undefined, query: Record<string, string>, status: number, error: string][] =
    [
      [undefined, {}, 401, 'Missing or invalid API key'],
      ['x'.repeat(19), {}, 401, 'Missing or invalid API key'],
      [unknown, {}, 400, 'creatorId is required'],
      [unknown, { creatorId: '' }, 400, 'creatorId is required'],
      [unknown, { since: 'x' }, 400, 'creatorId is required'],
      [unknown, { creatorId: id }, 401, 'Missing or invalid API key'],
      [apiKey, { creatorId: id, since: 'x', before: 'x' }, 400, 'since must be an ISO 8601 datetime'],
      [apiKey, { creatorId: id, before: 'x' }, 400, 'before must be an ISO 8601 datetime'],
    ]
  for (const [bearer, query, status, error] of table) {
    const answer = await getEvents(bearer, query)
    t.is(answer.status, status, JSON.stringify(query))
    t.is(answer.body.error, error)
  }
  const twice = await world().request('GET', `/sdk/events?creatorId=${id}&creatorId=${id}`, {
    bearer: apiKey,
  })
  t.is(twice.body.error, 'creatorId is required')
})

test('14.6 since and before are RFC 3339 times, without an offset UTC', async (t) => {
  const { id, apiKey } = await registerEmbedder(world())
  const bad = [
    '',
    'yesterday',
    '2026',
    '2026-01-01',
    '1767225600000',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T25:00:00Z',
    "2026-01-01T00:00:00Z'; drop table tips",
    '2026-01-01T00:00:00Z\u0000',
    '+012026-01-01T00:00:00Z',
  ]
  for (const since of bad)
    t.is(
      (await getEvents(apiKey, { creatorId: id, since })).body.error,
      'since must be an ISO 8601 datetime',
      since,
    )
  const good = [
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.123Z',
    '2026-01-01T00:00:00.123456789Z',
    '2026-01-01T02:00:00+02:00',
    '2026-01-01T02:00:00 02:00',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '2024-02-29T00:00:00Z',
  ]
  for (const moment of good)
    for (const name of ['since', 'before'])
      t.is((await getEvents(apiKey, { creatorId: id, [name]: moment })).status, 200, moment)
})

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
  const { events } = createBackendClient({ baseUrl: world().url, apiKey })
  const signal = AbortSignal.timeout(pollTimeoutMs)
  for await (const { eventId } of events({ creatorId: id, pollMs, signal })) {
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
