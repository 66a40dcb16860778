import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import Koa from 'koa'
import { closeServer } from '../../scripts/sandbox/http-server.js'
import { ownerGuards } from '../../src/accounts/sessions/auth.js'
import { createApiKey } from '../../src/creators/api-keys.js'
import { createEventReaders } from '../../src/events/routes.js'
import { trustProxies } from '../../src/http/limits/trusted-proxies.js'
import { chain, mount } from '../../src/http/mount.js'
import { readBearer } from '../../src/http/security/credentials.js'
import { HeartbeatWheel } from '../../src/http/sse.js'
import { hashSecret } from '../../src/kernel/ids.js'
import { confirmTips } from '../../src/tips/confirm/confirm-tips.js'
import { openEventStream } from '../helpers/http/stream-reader.js'
import { createConfirmedTips, someConfirmation, storePendingTips } from '../helpers/make/confirmed-tips.js'
import type { Person } from '../helpers/make/creators.js'
import { disputeTip, endDispute, lookNow, paidTip } from '../helpers/make/fiat/disputes.js'
import { createFiatIntent, expireFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { fillEventLog } from '../helpers/make/many-events.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import {
  createWithdrawal,
  creatorWithBalance,
  followOutcome,
  quickPayouts,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { seededRandom, seededRuns } from '../helpers/random.js'
import { as } from '../helpers/servers/roles.js'
import { setRows, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true, env: quickPayouts })

interface EventBody {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly sequence: number
  readonly data: Readonly<Record<string, unknown>>
}
interface Page {
  readonly events: readonly EventBody[]
  readonly after: number
  readonly hasMore: boolean
}
type Caller = { readonly session?: string; readonly apiKey?: string }

function read({ apiKey, session }: Caller, query: Record<string, string> = {}) {
  return world().request<Page>('GET', `/creators/events?${new URLSearchParams(query)}`, {
    ...(apiKey === undefined ? { session } : { bearer: apiKey }),
  })
}
const eventsOf = async (caller: Caller, query: Record<string, string> = {}) =>
  (await read(caller, query)).body.events
const typesOf = async (caller: Caller) => (await eventsOf(caller)).map(({ type }) => type)
const sequencesOf = (events: readonly EventBody[]) => events.map(({ sequence }) => sequence)

test('a poll for rare types goes on after what it has looked at', async (t) => {
  const creator = await registerEmbedder(world())
  await fillEventLog(world(), creator.user.id, 120_001)
  const page = async (query: Record<string, string>) => {
    const { status, body } = await read(creator, { types: 'ping', ...query })
    return [status, sequencesOf(body.events), body.after, body.hasMore]
  }
  t.deepEqual(await page({ wait: '5' }), [200, [], 100_000, true], 'it does not wait')
  t.deepEqual(await page({ after: '100000' }), [200, [120_001], 120_001, false])
  t.deepEqual(await page({ after: '40000' }), [200, [120_001], 120_001, false])
  t.deepEqual(await page({ after: '120001' }), [200, [], 120_001, false])
  t.deepEqual(await page({ types: 'ping,tip.final', limit: '2' }), [200, [1, 2], 2, true])
  t.deepEqual(await page({ types: 'dispute.opened', after: '115000' }), [200, [], 120_001, false])
})

test('a confirmed and final tip is in the log, with the balance that it frees', async (t) => {
  const creator = await registerEmbedder(world())
  const tip = someConfirmation(creator.wallet, { message: 'hello' })
  await createConfirmedTips(world(), [tip])
  const events = await eventsOf(creator)
  t.deepEqual(
    events.map(({ type, sequence }) => [sequence, type]),
    [
      [1, 'tip.confirmed'],
      [2, 'tip.final'],
      [3, 'balance.available'],
    ],
  )
  t.like(events[0]?.data, {
    signature: tip.id,
    message: 'hello',
    amount: 1,
    receivedAmount: 0.98,
    tokenSymbol: 'USDC',
  })
  t.like(events[2]?.data, { availableUSDC: 0.98, pendingUSDC: 0 })
  t.is(events[0]?.id, `evt_${creator.id.replaceAll('-', '')}_1`)
  t.deepEqual(await eventsOf({ session: creator.session }), events, 'a session and an API key read the same')
})

test('the list goes on after a sequence number, by types and in pages', async (t) => {
  const creator = await registerEmbedder(world())
  await createConfirmedTips(
    world(),
    Array.from({ length: 30 }, () => someConfirmation(creator.wallet)),
  )
  const first = (await read(creator, { limit: '50' })).body
  t.deepEqual([first.events.length, first.after, first.hasMore], [50, 50, true])
  const second = (await read(creator, { limit: '50', after: '50' })).body
  t.deepEqual([second.events.length, second.after, second.hasMore], [11, 61, false])
  t.deepEqual(
    sequencesOf([...first.events, ...second.events]),
    Array.from({ length: 61 }, (_, index) => index + 1),
  )
  t.deepEqual((await read(creator, { after: '61' })).body, {
    success: true,
    events: [],
    after: 61,
    hasMore: false,
  } as never)
  const confirmed = await eventsOf(creator, { types: 'tip.confirmed', limit: '100' })
  t.deepEqual([confirmed.length, new Set(confirmed.map(({ type }) => type)).size], [30, 1])
  t.is((await eventsOf(creator, { types: 'tip.*,balance.available', limit: '100' })).length, 61)
})

test('bad values are refused by name, and other credentials too', async (t) => {
  const creator = await registerEmbedder(world())
  for (const [query, error] of [
    [{ after: '-1' }, 'Invalid after'],
    [{ after: '1e3' }, 'Invalid after'],
    [{ after: '9007199254740993' }, 'Invalid after'],
    [{ types: 'tip' }, 'Invalid types'],
    [{ types: 'tip.confirmed,,' }, 'Invalid types'],
    [{ limit: '0' }, 'Invalid limit'],
    [{ wait: '31' }, 'Invalid wait'],
  ] as const) {
    const answer = await world().request('GET', `/creators/events?${new URLSearchParams(query)}`, {
      bearer: creator.apiKey,
    })
    t.deepEqual([answer.status, answer.body.error], [400, error], JSON.stringify(query))
  }
  const without = await world().request('GET', '/creators/events')
  t.deepEqual([without.status, without.body.error], [401, 'Unauthorized'])
  for (const bearer of [creator.accessToken, `${creator.apiKey}x`, 'short'])
    for (const path of ['/creators/events', '/creators/stream']) {
      const answer = await world().request('GET', path, { bearer })
      t.deepEqual([answer.status, answer.body.error], [401, 'Missing or invalid API key'], path)
    }
  t.is(
    (await world().request('GET', '/creators/me', { bearer: creator.apiKey })).status,
    401,
    'a key opens the log only',
  )
})

test('a waiting poll is answered by the next event, and by nothing when its time is over', async (t) => {
  const creator = await registerEmbedder(world())
  t.deepEqual(await eventsOf(creator, { wait: '1' }), [])
  const waiting = read(creator, { wait: '30' })
  await createConfirmedTips(world(), [someConfirmation(creator.wallet)])
  const { events } = (await waiting).body
  t.is(events[0]?.type, 'tip.confirmed')
})

test('a stream goes on after the last event that its reader had', async (t) => {
  const creator = await registerEmbedder(world())
  await createConfirmedTips(world(), [someConfirmation(creator.wallet), someConfirmation(creator.wallet)])
  const live = openEventStream(t, `${world().url}/creators/stream`, { bearer: creator.apiKey })
  await until('the stream is connected', () => live.body().includes('"connected"'))
  const resumed = openEventStream(t, `${world().url}/creators/stream?types=tip.*`, {
    bearer: creator.apiKey,
    lastEventId: '1',
  })
  const all = openEventStream(t, `${world().url}/creators/stream?after=0`, { bearer: creator.apiKey })
  await createConfirmedTips(world(), [someConfirmation(creator.wallet)])
  const log = await eventsOf(creator)
  const last = log.at(-1)?.sequence ?? 0
  t.is(last, 8)
  await until(
    'each has what it lacks',
    () => [live, all].every(({ events }) => events.at(-1)?.id === last) && resumed.events.length === 5,
  )
  t.deepEqual(
    all.events.map(({ data }) => data),
    log as never,
  )
  t.deepEqual(
    live.events.map(({ id }) => id),
    [6, 7, 8],
  )
  t.deepEqual(
    resumed.events.map(({ id }) => id),
    log
      .filter(({ type, sequence }) => type.startsWith('tip.') && sequence > 1)
      .map(({ sequence }) => sequence),
  )
})

/** The readers of the log alone, in a server that checks the credentials of streams all the time. */
async function serveReaders(t: ExecutionContext): Promise<string> {
  const { services } = world()
  const wheel = new HeartbeatWheel()
  const readers = createEventReaders(services, wheel, 20)
  const guard = chain(ownerGuards(services))
  const koa = new Koa()
    .use(trustProxies(services.config.http.trustProxy, () => undefined))
    .use((ctx, next) => (readBearer(ctx) === undefined ? guard(ctx, next) : next()))
    .use(mount(readers.routes, services.limits, services.switches))
  const server = createServer(koa.callback())
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(async () => {
    await readers.close()
    wheel.close()
    await closeServer(server)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a stream ends with its session or API key, and others of its account stay open', async (t) => {
  const creator = await registerEmbedder(world())
  const url = await serveReaders(t)
  const logIn = async ({ email, password }: Person) =>
    (await world().request('POST', '/auth/login', { body: { email, password } })).session
  const [signedOut, tooOld, valid] = [await logIn(creator), await logIn(creator), creator.session]
  const { apiKey } = await createApiKey(world().services, creator.id, undefined)
  const open = (credential: { readonly bearer?: string; readonly session?: string }) =>
    openEventStream(t, `${url}/creators/stream`, credential)
  const ending = [{ session: signedOut ?? '' }, { session: tooOld ?? '' }, { bearer: creator.apiKey }].map(
    open,
  )
  const staying = [{ session: valid }, { bearer: apiKey }].map(open)
  await until('all are connected', () =>
    [...ending, ...staying].every(({ body }) => body().includes('"connected"')),
  )
  await world().request('POST', '/auth/logout', { session: signedOut })
  await setRows(
    world(),
    'sessions',
    { token_hash: hashSecret(tooOld ?? '') },
    { idle_until: new Date(Date.now() - 1) },
  )
  const revoked = await world().request('DELETE', `/creators/api-keys/${creator.keyId}`, { session: valid })
  t.is(revoked.status, 200)
  await until('the streams of what is void have ended', () => ending.every(({ isOpen }) => !isOpen()))
  await createConfirmedTips(world(), [someConfirmation(creator.wallet)])
  await until('the others get the next event', () => staying.every(({ events }) => events.length > 0))
  t.true(staying.every(({ isOpen }) => isOpen()))
  t.true(ending.every(({ events }) => events.length === 0))
})

test('naira that are paid, fail or never come are in the log', async (t) => {
  const creator = await registerEmbedder(world())
  const { intentId: tipId } = await paidTip(world(), creator)
  t.deepEqual(await typesOf(creator), ['tip.confirmed', 'naira.completed'])
  const late = await createFiatIntent(world(), { creatorId: creator.id, amount: 5 })
  await expireFiatIntent(world(), late.intentId)
  await settleIntentNow(world(), late.intentId)
  const events = await eventsOf(creator)
  t.deepEqual(events.map(({ type }) => type).slice(2), ['naira.cancelled'])
  t.is(events[1]?.data['signature'], tipId)
})

test('a withdrawal is in the log from its hold to its end', async (t) => {
  const person = await creatorWithBalance(world(), 500)
  const { reference } = await createWithdrawal(world(), person, { amountUSDC: 20 })
  await sendDuePayouts(world())
  await followOutcome(world(), reference, 'success')
  const events = await eventsOf(person)
  t.deepEqual(
    events.map(({ type, data }) => [type, data['reference']]),
    [
      ['withdrawal.submitted', reference],
      ['withdrawal.completed', reference],
    ],
  )
  t.is(events[0]?.data['accountNumber'], '******6789')
  const large = await createWithdrawal(world(), person, { amountNGN: 300_000 })
  const held = (await eventsOf(person)).at(-1)
  t.deepEqual(
    [held?.type, held?.data['reference'], held?.data['heldFor']],
    ['withdrawal.held', large.reference, 'identity'],
  )
})

test('a dispute is in the log when it opens and when it ends', async (t) => {
  const creator = await registerEmbedder(world())
  const { intentId: tipId } = await paidTip(world(), creator)
  const dispute = disputeTip(world(), tipId)
  await lookNow(world())
  await endDispute(world(), dispute, 'won')
  const events = (await eventsOf(creator)).slice(2)
  t.deepEqual(
    events.map(({ type, data }) => [type, data['tip'], data['state']]),
    [
      ['dispute.opened', tipId, 'open'],
      ['dispute.closed', tipId, 'won'],
    ],
  )
})

test('twenty writers leave no hole, and list, stream and SDK events have one order', async (t) => {
  const random = seededRandom(seededRuns(t).seed)
  const creators = await Promise.all(Array.from({ length: 3 }, () => registerEmbedder(world())))
  const streams = creators.map(({ apiKey }) =>
    openEventStream(t, `${world().url}/creators/stream?after=0`, { bearer: apiKey }),
  )
  const batches = Array.from({ length: 60 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
      someConfirmation(creators[Math.floor(random() * 3)]?.wallet ?? ''),
    ),
  )
  await storePendingTips(world(), batches.flat())
  const services = as('verifier', world().services)
  await Promise.all(
    Array.from({ length: 20 }, async (_, writer) => {
      for (const batch of batches.slice(writer * 3, writer * 3 + 3)) await confirmTips(services, batch)
    }),
  )
  for (const [index, creator] of creators.entries()) {
    const log: EventBody[] = []
    for (
      let page = await read(creator, { limit: '100' });
      ;
      page = await read(creator, { limit: '100', after: String(page.body.after) })
    ) {
      log.push(...page.body.events)
      if (!page.body.hasMore) break
    }
    t.deepEqual(
      sequencesOf(log),
      log.map((_, place) => place + 1),
      'without holes',
    )
    const rows: { id: string }[] = await world()
      .db('tips as t')
      .join('parties as p', 'p.id', 't.recipient_party')
      .where({ 'p.user_id': creator.id })
      .orderBy('t.confirmed_at')
      .select('t.id')
    const confirmed = log.filter(({ type }) => type === 'tip.confirmed').map(({ data }) => data['signature'])
    t.deepEqual(
      confirmed,
      rows.map(({ id }) => id),
      'in the order of the stamps that SDK events and tip streams have',
    )
    const stream = streams[index]
    await until('the stream has all', () => stream?.events.length === log.length)
    t.deepEqual(
      stream?.events.map(({ data }) => data),
      log as never,
    )
  }
})

test('a tip to a wallet without an account is in no log', async (t) => {
  const { rows: before } = await world().db.raw('select count(*)::int as n from events')
  await createConfirmedTips(world(), [someConfirmation(unusedWallet())])
  const { rows: after } = await world().db.raw('select count(*)::int as n from events')
  t.deepEqual(after, before)
})
