import test, { type ExecutionContext } from 'ava'
import { Webhook } from 'standardwebhooks'
import { deleteOldDeliveries } from '../../src/webhooks/deliveries.js'
import { createDispatcherBatch } from '../../src/webhooks/dispatch.js'
import { readDuePage, settlePage, takeEndpoints } from '../../src/webhooks/endpoint-queue.js'
import { reachOf } from '../../src/webhooks/target.js'
import { watchEndpoints } from '../../src/webhooks/watch-endpoints.js'
import { mailKinds } from '../helpers/alerts-and-mails.js'
import { proveEmailOf, registerPerson } from '../helpers/make/creators.js'
import { createWebhook, dispatch, recordEvents, startReceiver, untilSent } from '../helpers/make/webhooks.js'
import { as } from '../helpers/servers/roles.js'
import { assertWoken, startWorkerLoops } from '../helpers/servers/worker-loops.js'
import { localTest, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { env: localTest })

// The tests are serial, because every dispatcher takes all due endpoints.
test.serial.afterEach.always(async () => {
  await world().db('webhook_endpoints').delete()
})

/** A creator with one webhook whose ping is delivered. */
async function setUp(t: ExecutionContext, body: Readonly<Record<string, unknown>> = {}) {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const person = await registerPerson(world())
  const { webhook, secret } = await createWebhook(world(), person.session, { url: receiver.url, ...body })
  await dispatch(world())
  receiver.received.length = 0
  return { ...person, userId: person.user.id, receiver, id: webhook.id, secret }
}
type Subject = Awaited<ReturnType<typeof setUp>>

const sequences = ({ receiver }: Pick<Subject, 'receiver'>): number[] =>
  receiver.received.map(({ body }) => body.sequence)
const endpointRow = (id: string) => world().db('webhook_endpoints').where({ id }).first()
const deliveryRows = (id: string) =>
  world().db('webhook_deliveries').where({ endpoint_id: id }).orderBy('sequence')
const change = ({ session, id }: Subject, body: unknown) =>
  world().request('PATCH', `/creators/webhooks/${id}`, { session, body })
const act = ({ session, id }: Subject, name: string, body: unknown = {}) =>
  world().request<Record<string, unknown>>('POST', `/creators/webhooks/${id}/${name}`, { session, body })

/** Time passes until everything that waits is due. */
async function makeDue(id: string): Promise<void> {
  await world()
    .db('webhook_deliveries')
    .where({ endpoint_id: id, state: 'pending' })
    .update({ due_at: new Date(0) })
  await world()
    .db('webhook_endpoints')
    .where({ id })
    .whereNull('disabled')
    .update({ due_at: new Date(0), paused_until: null })
}

test.serial('events arrive once, in their order, signed, and as the log has them', async (t) => {
  const subject = await setUp(t)
  const { receiver, userId, secret } = subject
  receiver.answer = (_, response) => setImmediate(() => response.end())
  await recordEvents(world(), userId, 120)
  await dispatch(world())
  const seen = sequences(subject)
  t.deepEqual(
    [...seen].sort((a, b) => a - b),
    Array.from({ length: 120 }, (_, n) => n + 2),
  )
  // At most eight are on their way at once.
  t.true(seen.every((sequence, place) => Math.abs(sequence - 2 - place) <= 8))
  for (const { text, headers, body } of receiver.received) {
    new Webhook(secret).verify(text, headers as Record<string, string>)
    t.is(headers['webhook-id'], body.id)
    t.is(headers['content-type'], 'application/json')
  }
  await dispatch(world())
  t.is(receiver.received.length, 120)
})

test.serial('an event wakes the dispatcher, which sends it at once', async (t) => {
  const { userId, receiver } = await setUp(t)
  await assertWoken(t, world().services, 'dispatcher', () => recordEvents(world(), userId, 1))
  const loops = startWorkerLoops(world().services, ['dispatcher'])
  t.teardown(() => loops.stop())
  await until('the first has arrived', () => receiver.received.length === 1)
  await recordEvents(world(), userId, 1)
  await until('the second has arrived', () => receiver.received.length === 2)
})

test.serial('only the chosen types are sent, and a ping to its endpoint only', async (t) => {
  const one = await setUp(t, { types: ['tip.final'] })
  const two = await startReceiver()
  t.teardown(() => two.close())
  await createWebhook(world(), one.session, { url: two.url })
  await recordEvents(world(), one.userId, 1, 'tip.confirmed')
  await recordEvents(world(), one.userId, 1, 'tip.final')
  t.is((await act(one, 'test')).status, 200)
  await dispatch(world())
  t.deepEqual(one.receiver.received.map(({ body }) => body.type).sort(), ['ping', 'tip.final'])
  t.deepEqual(two.received.map(({ body }) => body.type).sort(), ['ping', 'tip.confirmed', 'tip.final'])
})

test.serial(
  'a failed delivery comes again with the same id, later each time, and fails after ten attempts',
  async (t) => {
    const { receiver, userId, id } = await setUp(t)
    receiver.answer = (_, response) => response.writeHead(500).end('no\u0000 money')
    await recordEvents(world(), userId, 1)
    const pauses: number[] = []
    for (let n = 1; n <= 10; n++) {
      await dispatch(world())
      const [, row] = await deliveryRows(id)
      t.like(row, {
        attempts: n,
        status: 500,
        answer: 'no\ufffd money',
        state: n < 10 ? 'pending' : 'failed',
      })
      if (n < 10) pauses.push(Math.round((row.due_at.getTime() - row.tried_at.getTime()) / 1000))
      await makeDue(id)
    }
    for (const [index, seconds] of [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].entries())
      t.true(Math.abs((pauses[index] ?? 0) - seconds * 1.05) <= seconds * 0.05 + 1, String(pauses))
    t.is(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
    await dispatch(world())
    t.is(receiver.received.length, 10)
    const { failing_since, last_error } = await endpointRow(id)
    t.truthy(failing_since)
    t.regex(last_error, /^500 no/)
  },
)

test.serial('after a success an endpoint has not failed', async (t) => {
  const { receiver, userId, id } = await setUp(t)
  receiver.answer = (_, response) => response.writeHead(503).end()
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  t.like(await endpointRow(id), { failures: 1 })
  receiver.answer = (_, response) => response.end()
  await makeDue(id)
  await dispatch(world())
  t.like(await endpointRow(id), {
    failures: 0,
    failing_since: null,
    last_error: null,
    paused_until: null,
    due_at: null,
  })
})

test.serial('Retry-After holds the whole endpoint, also for later events', async (t) => {
  const { receiver, userId, id } = await setUp(t)
  receiver.answer = (_, response) => response.writeHead(429, { 'retry-after': '600' }).end()
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  t.is(receiver.received.length, 1)
  const { due_at } = await endpointRow(id)
  t.true(due_at.getTime() > Date.now() + 590_000)
})

test.serial('an answer 410 disables the endpoint, and its owner is told once', async (t) => {
  const subject = await setUp(t)
  const { receiver, userId, id, email } = subject
  await proveEmailOf(world(), subject)
  receiver.answer = (_, response) => response.writeHead(410).end()
  await recordEvents(world(), userId, 2)
  await dispatch(world())
  t.like(await endpointRow(id), { disabled: 'gone', due_at: null, working: false })
  for (let n = 0; n < 2; n++) await watchEndpoints(as('clock', world().services))
  const mails = (await mailKinds(world(), email)).filter((kind) => kind === 'webhook-disabled')
  t.is(mails.length, 1)
  const sent = receiver.received.length
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  t.is(receiver.received.length, sent)
})

test.serial('after a change of the address nothing of the old server counts for the new one', async (t) => {
  const subject = await setUp(t)
  const { receiver, userId, id } = subject
  const moved = await startReceiver()
  t.teardown(() => moved.close())
  const held: (() => void)[] = []
  // The first of the old server's answers comes after the change: it is gone.
  receiver.answer = ({ body }, response) => {
    if (body.sequence === 2) held.push(() => response.writeHead(410).end())
    else response.end()
  }
  await recordEvents(world(), userId, 2)
  const batch = createDispatcherBatch(as('dispatcher', world().services), reachOf(world().services.config))
  await batch()
  await until('the old server hangs', () => held.length === 1 && receiver.received.length === 2)
  t.is((await change(subject, { url: moved.url })).status, 200)
  await dispatch(world())
  t.deepEqual(moved.received.map(({ body }) => body.sequence).sort(), [2, 3])
  for (const release of held) release()
  await batch.stop()
  t.like(await endpointRow(id), { disabled: null, working: false, failures: 0 })
  const [, ...rows] = await deliveryRows(id)
  t.deepEqual(
    rows.map(({ state, status }) => [state, status]),
    [
      ['delivered', 200],
      ['delivered', 200],
    ],
  )
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  t.is(moved.received.length, 3)
  t.is(receiver.received.length, 2)
})

test.serial('a new address has failed for no time, and no Retry-After holds it', async (t) => {
  const subject = await setUp(t)
  const { receiver, userId, id } = subject
  receiver.answer = (_, response) => response.writeHead(503, { 'retry-after': '86400' }).end()
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  await world()
    .db('webhook_endpoints')
    .where({ id })
    .update({ failing_since: new Date(Date.now() - 119 * 3_600_000), told: 'failing' })
  const moved = await startReceiver()
  t.teardown(() => moved.close())
  await change(subject, { description: 'the same address', url: receiver.url })
  t.like(await endpointRow(id), { told: 'failing', failures: 1 })
  await change(subject, { url: moved.url })
  t.like(await endpointRow(id), {
    failures: 0,
    failing_since: null,
    told: null,
    paused_until: null,
    last_error: null,
  })
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  t.deepEqual(
    moved.received.map(({ body }) => body.sequence),
    [3],
  )
})

test.serial('a disabled endpoint stays so at another address, and its owner is told once', async (t) => {
  const subject = await setUp(t)
  const { receiver, userId, id, email } = subject
  await proveEmailOf(world(), subject)
  receiver.answer = (_, response) => response.writeHead(410).end()
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  await watchEndpoints(as('clock', world().services))
  await change(subject, { url: 'http://localhost:9/' })
  t.like(await endpointRow(id), { disabled: 'gone', due_at: null })
  await watchEndpoints(as('clock', world().services))
  t.is((await mailKinds(world(), email)).filter((kind) => kind === 'webhook-disabled').length, 1)
})

test.serial('redirects, large answers and broken ones do no harm', async (t) => {
  const { receiver, userId, id } = await setUp(t)
  const elsewhere = await startReceiver()
  t.teardown(() => elsewhere.close())
  const answers: (typeof receiver)['answer'][] = [
    (_, response) => response.writeHead(307, { location: elsewhere.url }).end(),
    (_, response) => response.end('x'.repeat(1_000_000)),
    (_, response) => response.destroy(),
    (_, response) =>
      response.writeHead(200, { 'content-length': '10' }).end('short', () => response.destroy()),
  ]
  for (const answer of answers) {
    receiver.answer = answer
    await recordEvents(world(), userId, 1)
    await dispatch(world())
    await world().db('webhook_endpoints').where({ id }).update({ paused_until: null })
  }
  const [, redirected, large, broken, short] = await deliveryRows(id)
  t.like(redirected, { state: 'pending', status: 307 })
  t.is(elsewhere.received.length, 0)
  t.like(large, { state: 'delivered', status: 200, answer: 'x'.repeat(1024) })
  t.like(broken, { state: 'pending', status: null, answer: 'no answer: ECONNRESET' })
  t.like(short, { state: 'pending', status: null })
})

test.serial(
  'an endpoint that hangs delays no other, and each of its own events waits for nobody else',
  async (t) => {
    const slow = await setUp(t)
    const quick = await setUp(t)
    const held: (() => void)[] = []
    slow.receiver.answer = (_, response) => void held.push(() => response.end())
    await recordEvents(world(), slow.userId, 20)
    const batch = createDispatcherBatch(as('dispatcher', world().services), reachOf(world().services.config))
    await batch()
    await until('the slow one hangs', () => held.length > 0)
    await recordEvents(world(), quick.userId, 60)
    await batch()
    await until('the quick one has everything', () => quick.receiver.received.length === 60)
    t.true(slow.receiver.received.length <= 8)
    slow.receiver.answer = (_, response) => response.end()
    for (const release of held) release()
    await untilSent(world().db)
    t.is(slow.receiver.received.length, 20)
  },
)

test.serial('a dispatcher that stops begins nothing more, and leaves the rest due at once', async (t) => {
  const { userId, receiver, id } = await setUp(t)
  const held: (() => void)[] = []
  receiver.answer = (_, response) => held.push(() => response.end())
  await recordEvents(world(), userId, 200)
  const batch = createDispatcherBatch(as('dispatcher', world().services), reachOf(world().services.config))
  await batch()
  await until('it sends', () => held.length > 0)
  const stopped = batch.stop()
  receiver.answer = (_, response) => response.end()
  for (const release of held) release()
  await stopped
  const sent = receiver.received.length
  t.true(sent < 200)
  t.is(
    (await world().db('webhook_deliveries').where({ endpoint_id: id, state: 'pending' })).length,
    200 - sent,
  )
  t.false((await endpointRow(id)).working)
  await dispatch(world())
  t.is(receiver.received.length, 200)
})

test.serial('after a rotation both secrets sign, and later only the new one', async (t) => {
  const subject = await setUp(t)
  const { receiver, userId, secret, id } = subject
  const rotated = (await act(subject, 'rotate')).body
  const newer = String(rotated['secret'])
  t.not(newer, secret)
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  await world()
    .db('webhook_endpoints')
    .where({ id })
    .update({ previous_until: new Date(0) })
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  const [both, one] = receiver.received
  const headers = (webhook: typeof both) => webhook?.headers as Record<string, string>
  new Webhook(secret).verify(both?.text ?? '', headers(both))
  new Webhook(newer).verify(both?.text ?? '', headers(both))
  new Webhook(newer).verify(one?.text ?? '', headers(one))
  t.throws(() => new Webhook(secret).verify(one?.text ?? '', headers(one)))
})

test.serial(
  'a disabled endpoint gets what it missed when it is enabled with replay, and only new events without',
  async (t) => {
    const subject = await setUp(t)
    const { userId, receiver } = subject
    await change(subject, { status: 'disabled' })
    await recordEvents(world(), userId, 3)
    await dispatch(world())
    t.is(receiver.received.length, 0)
    await change(subject, { status: 'active', replay: true })
    await dispatch(world())
    t.deepEqual(sequences(subject), [2, 3, 4])
    await change(subject, { status: 'disabled' })
    await recordEvents(world(), userId, 3)
    await change(subject, { status: 'active', replay: false })
    await recordEvents(world(), userId, 1)
    await dispatch(world())
    t.deepEqual(sequences(subject), [2, 3, 4, 8])
  },
)

test.serial(
  'a redelivery sends one event, a range or all that failed again, with the same ids',
  async (t) => {
    const subject = await setUp(t)
    const { userId, receiver, id } = subject
    await recordEvents(world(), userId, 5)
    await dispatch(world())
    const before = receiver.received.map(({ text }) => text)
    await act(subject, 'redeliver', { from: 3, to: 4 })
    await dispatch(world())
    t.deepEqual(
      receiver.received
        .slice(5)
        .map(({ text }) => text)
        .sort(),
      before.slice(1, 3).sort(),
    )
    await act(subject, 'redeliver', { event: JSON.parse(before[0] ?? '').id })
    await dispatch(world())
    t.is(receiver.received.at(-1)?.text, before[0])
    await world()
      .db('webhook_deliveries')
      .where({ endpoint_id: id, sequence: 6 })
      .update({ state: 'failed', due_at: null })
    t.is((await act(subject, 'redeliver', { failed: true })).body['queued'], 1)
    await dispatch(world())
    t.is(receiver.received.at(-1)?.body.sequence, 6)
    t.like((await deliveryRows(id)).at(-1), { state: 'delivered', attempts: 2 })
    // A server that was down need not wait for hours until its next attempt.
    await world()
      .db('webhook_deliveries')
      .where({ endpoint_id: id, sequence: 5 })
      .update({ state: 'pending', tries: 5, due_at: new Date(Date.now() + 36_000_000) })
    t.is((await act(subject, 'redeliver', { failed: true })).body['queued'], 1)
    await dispatch(world())
    t.is(receiver.received.at(-1)?.body.sequence, 5)
  },
)

test.serial('what is added while a dispatcher has the endpoint is not forgotten', async (t) => {
  const { userId, id } = await setUp(t)
  const db = as('dispatcher', world().services).db
  await recordEvents(world(), userId, 1)
  const batch = createDispatcherBatch(as('dispatcher', world().services), reachOf(world().services.config))
  await world()
    .db('webhook_endpoints')
    .where({ id })
    .update({ due_at: new Date(0) })
  const [taken] = await takeEndpoints(db, 10, 10)
  if (taken === undefined) throw new Error('nothing was due')
  t.deepEqual(await takeEndpoints(db, 10, 10), [], 'it is leased')
  t.deepEqual(await readDuePage(db, id), [])
  await batch()
  const kept = await settlePage(db, taken, [], { full: false, goOn: true, restMs: null })
  t.true(kept, 'the fan-out has said so')
  t.is((await readDuePage(db, id)).length, 1)
  t.false(
    await settlePage(db, { ...taken, attempts: 0 }, [], { full: false, goOn: true, restMs: null }),
    'the fence',
  )
})

test.serial(
  'an endpoint that answers well, but slowly, takes no slot of those that answer in time',
  async (t) => {
    const { id } = await setUp(t)
    const { db } = as('dispatcher', world().services)
    await world()
      .db('webhook_endpoints')
      .where({ id })
      .update({ due_at: new Date(0) })
    /** Takes it with the slots of this class, and gives it back, due, after an answer that took so long. */
    async function answersIn(ms: number, [inTime, late]: readonly [number, number]) {
      const [taken] = await takeEndpoints(db, inTime, late)
      t.like(taken, { id, failures: 0, late: late > 0 })
      if (taken === undefined) return
      const result = { sequence: 1n, ok: true, status: 200, ms, answer: '', dueInMs: null }
      await settlePage(db, taken, [result], { full: true, goOn: false, restMs: null })
    }
    await answersIn(5000, [1, 0])
    t.deepEqual(await takeEndpoints(db, 1, 0), [])
    await answersIn(20, [0, 1])
    t.deepEqual(await takeEndpoints(db, 0, 1), [])
    await answersIn(20, [1, 0])
  },
)

test.serial('after a day of failures the owner is mailed, after five the endpoint is disabled', async (t) => {
  const subject = await setUp(t)
  const { userId, id, email, receiver } = subject
  await proveEmailOf(world(), subject)
  receiver.answer = (_, response) => response.writeHead(500).end()
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  const clock = as('clock', world().services)
  const failsFor = (hours: number) =>
    world()
      .db('webhook_endpoints')
      .where({ id })
      .update({ failing_since: new Date(Date.now() - hours * 3_600_000) })
  const kinds = async () => {
    for (let n = 0; n < 2; n++) await watchEndpoints(clock)
    return (await mailKinds(world(), email)).filter((kind) => /^webhook-(fail|disabled)/.test(kind))
  }
  await failsFor(23)
  t.deepEqual(await kinds(), [])
  await failsFor(25)
  t.deepEqual(await kinds(), ['webhook-failing'])
  t.is((await endpointRow(id)).disabled, null)
  await failsFor(121)
  t.deepEqual((await kinds()).sort(), ['webhook-disabled', 'webhook-failing'])
  t.like(await endpointRow(id), { disabled: 'failing', due_at: null })
})

test.serial('while no dispatcher runs the clock makes endpoints due, so that the alarm sounds', async (t) => {
  const { id, userId } = await setUp(t)
  await recordEvents(world(), userId, 1)
  t.is((await endpointRow(id)).due_at, null)
  await watchEndpoints(as('clock', world().services))
  t.truthy((await endpointRow(id)).due_at)
})

test.serial(
  'what somebody set up who may not be the owner gets nothing, until the owner enables it',
  async (t) => {
    const subject = await setUp(t)
    const { id, userId } = subject
    await world().db('users').where({ id: userId }).update({ credentials_void_before: world().db.fn.now() })
    await watchEndpoints(as('clock', world().services))
    t.like(await endpointRow(id), { disabled: 'void', due_at: null })
    await change(subject, { status: 'active' })
    await watchEndpoints(as('clock', world().services))
    t.is((await endpointRow(id)).disabled, null)
  },
)

test.serial('deliveries are deleted after thirty days', async (t) => {
  const { id, userId } = await setUp(t)
  await recordEvents(world(), userId, 1)
  await dispatch(world())
  await world()
    .db('webhook_deliveries')
    .where({ endpoint_id: id, sequence: 1 })
    .update({ created_at: new Date(Date.now() - 31 * 86_400_000) })
  await deleteOldDeliveries(as('clock', world().services))
  t.deepEqual(
    (await deliveryRows(id)).map(({ sequence }) => Number(sequence)),
    [2],
  )
})
