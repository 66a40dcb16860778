import test from 'ava'
import { mailKinds } from '../helpers/alerts-and-mails.js'
import { registerPerson } from '../helpers/make/creators.js'
import {
  createWebhook,
  type DeliveryBody,
  dispatch,
  recordEvents,
  startReceiver,
  type WebhookBody,
} from '../helpers/make/webhooks.js'
import { dumpTables, tablesWith } from '../helpers/servers/dump-tables.js'
import { localTest, useWorld } from '../helpers/servers/world.js'

// The tests are serial, because every dispatcher takes all due endpoints.
const world = useWorld(test, { env: localTest })

const list = async (session: string) =>
  (await world().request<{ webhooks: WebhookBody[] }>('GET', '/creators/webhooks', { session })).body.webhooks
const change = (session: string, id: string, body: unknown) =>
  world().request<{ webhook: WebhookBody }>('PATCH', `/creators/webhooks/${id}`, { session, body })
const act = (session: string, id: string, name: string, body: unknown = {}) =>
  world().request<Record<string, unknown>>('POST', `/creators/webhooks/${id}/${name}`, { session, body })
const deliveries = (session: string, id: string, query = '') =>
  world().request<{ deliveries: DeliveryBody[]; nextCursor: string | null }>(
    'GET',
    `/creators/webhooks/${id}/deliveries${query}`,
    { session },
  )

interface Refused {
  readonly error: string
  readonly details?: readonly { readonly field: string; readonly problem: string }[]
}

test.serial('a webhook is made with a secret shown once, and its ping follows', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const { session, user, email } = await registerPerson(world())
  const { webhook, secret } = await createWebhook(world(), session, {
    url: `${receiver.url}/hooks#part`,
    description: ' my\u0000 shop ',
    types: ['tip.final', 'tip.final'],
  })
  t.regex(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.like(webhook, {
    url: `${receiver.url}/hooks`,
    description: 'my shop',
    types: ['tip.final'],
    status: 'active',
    lastDelivery: null,
  })
  await dispatch(world())
  const [ping, ...more] = receiver.received
  t.deepEqual(more, [])
  t.like(ping?.body, { type: 'ping', sequence: 1, data: { endpoint: webhook.id } })
  t.deepEqual(Object.keys(ping?.body ?? {}), ['id', 'type', 'timestamp', 'sequence', 'data'])
  const [listed] = await list(session)
  t.like(listed?.lastDelivery, { type: 'ping', state: 'delivered', status: 200, answer: 'ok', attempts: 1 })
  t.is(listed?.lastDelivery?.event, `evt_${user.id.replaceAll('-', '')}_1`)
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64')
  t.deepEqual(tablesWith(await dumpTables(world().db), [bytes.toString('hex'), secret]), [])
  t.true((await mailKinds(world(), email)).includes('webhook-created'))
})

test.serial('what is wrong with a webhook is named, and nothing is stored', async (t) => {
  const { session } = await registerPerson(world())
  const url = 'http://localhost:9/'
  const table: [body: unknown, error: string, field: string, problem: RegExp][] = [
    [{}, 'Invalid webhook url', 'url', /is missing/],
    [{ url: 7 }, 'Invalid webhook url', 'url', /must be a text/],
    [{ url: 'nonsense' }, 'Invalid webhook url', 'url', /must be a URL/],
    [{ url: 'https://10.0.0.1/' }, 'Invalid webhook url', 'url', /must not be a private address/],
    [{ url: 'https://[::ffff:a00:1]/' }, 'Invalid webhook url', 'url', /must not be a private address/],
    [{ url: 'https://me:secret@shop.example/' }, 'Invalid webhook url', 'url', /must not have credentials/],
    [{ url: 'http://shop.example/' }, 'Invalid webhook url', 'url', /must begin with https/],
    [{ url: 'https://shop.example:22/' }, 'Invalid webhook url', 'url', /port 443 or 8443/],
    [{ url: 'https://nothing.invalid/' }, 'Invalid webhook url', 'url', /does not resolve/],
    [{ url: `https://shop.example/${'x'.repeat(3000)}` }, 'Invalid webhook url', 'url', /at most 2048/],
    [{ url, types: 'tip.final' }, 'Invalid types', 'types', /must be a list/],
    [{ url, types: ['tip.lost'] }, 'Invalid types', 'types.0', /must be one of/],
    [{ url, types: Array(100).fill('ping') }, 'Invalid types', 'types', /at most/],
    [{ url, description: 'x'.repeat(3000) }, 'Invalid description', 'description', /at most 200/],
    [{ url, description: { a: 1 } }, 'Invalid description', 'description', /must be a text/],
  ]
  for (const [body, error, field, problem] of table) {
    const answer = await world().request<Refused>('POST', '/creators/webhooks', { session, body })
    t.is(answer.status, 400, JSON.stringify(body).slice(0, 100))
    t.is(answer.body.error, error)
    const [detail] = answer.body.details ?? []
    t.is(detail?.field, field, error)
    t.regex(detail?.problem ?? '', problem)
  }
  t.deepEqual(await list(session), [])
})

test.serial('a creator has at most ten, also under concurrent requests', async (t) => {
  const { session } = await registerPerson(world())
  const body = { url: 'http://localhost:9/' }
  const answers = await Promise.all(
    Array.from({ length: 14 }, () =>
      world().request<Refused>('POST', '/creators/webhooks', { session, body }),
    ),
  )
  t.is(answers.filter(({ status }) => status === 200).length, 10)
  const refused = answers.find(({ status }) => status !== 200)
  t.is(refused?.body.error, 'Too many webhooks')
  const [first] = await list(session)
  t.is((await world().request('DELETE', `/creators/webhooks/${first?.id}`, { session })).status, 200)
  await t.notThrowsAsync(createWebhook(world(), session, body))
})

test.serial('nobody sees or changes the webhook of another creator', async (t) => {
  const [ada, eve] = await Promise.all([registerPerson(world()), registerPerson(world())])
  const { webhook } = await createWebhook(world(), ada.session, { url: 'http://localhost:9/' })
  t.deepEqual(await list(eve.session), [])
  for (const id of [webhook.id, 'nonsense', '00000000-0000-4000-8000-000000000000'])
    for (const { status, body } of [
      await change(eve.session, id, { description: 'mine' }),
      await change(eve.session, id, { status: 'disabled' }),
      await act(eve.session, id, 'rotate'),
      await act(eve.session, id, 'test'),
      await act(eve.session, id, 'redeliver', { failed: true }),
      await deliveries(eve.session, id),
      await world().request('DELETE', `/creators/webhooks/${id}`, { session: eve.session }),
    ])
      t.deepEqual([status, (body as unknown as Refused).error], [404, 'Webhook not found'])
  const { id, url, description, status, previousSecretUntil } = webhook
  t.like((await list(ada.session))[0], { id, url, description, status, previousSecretUntil })
})

test.serial('a webhook is changed field by field, and a new address is mailed', async (t) => {
  const { session, email } = await registerPerson(world())
  const { webhook } = await createWebhook(world(), session, { url: 'http://localhost:9/', description: 'a' })
  const { id } = webhook
  t.like((await change(session, id, { types: ['ping'] })).body.webhook, { types: ['ping'], description: 'a' })
  t.like((await change(session, id, { description: '' })).body.webhook, {
    types: ['ping'],
    description: null,
  })
  t.like((await change(session, id, { types: [] })).body.webhook, { types: [], url: webhook.url })
  t.false((await mailKinds(world(), email)).includes('webhook-moved'))
  t.is((await change(session, id, { url: 'http://localhost:10/' })).body.webhook.url, 'http://localhost:10/')
  t.true((await mailKinds(world(), email)).includes('webhook-moved'))
  for (const [body, error] of [
    [{ url: 'https://192.168.0.1/' }, 'Invalid webhook url'],
    [{ status: 'gone' }, 'Invalid status'],
    [{ status: 'active', replay: 'yes' }, 'Invalid replay'],
    [{ types: [1] }, 'Invalid types'],
  ] as const) {
    const answer = await change(session, id, body)
    t.deepEqual([answer.status, (answer.body as unknown as Refused).error], [400, error])
  }
})

test.serial('a disabled webhook takes no test and no redelivery, and says who disabled it', async (t) => {
  const { session } = await registerPerson(world())
  const { webhook } = await createWebhook(world(), session, { url: 'http://localhost:9/' })
  const disabled = await change(session, webhook.id, { status: 'disabled' })
  t.like(disabled.body.webhook, { status: 'disabled', disabledBy: 'creator' })
  for (const { status, body } of [
    await act(session, webhook.id, 'test'),
    await act(session, webhook.id, 'redeliver', { failed: true }),
  ])
    t.deepEqual([status, body['error']], [409, 'Webhook disabled'])
  t.like((await change(session, webhook.id, { status: 'active' })).body.webhook, { status: 'active' })
})

test.serial('deliveries are listed newest first, page by page and by state', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  receiver.answer = ({ body }, response) => response.writeHead(body.sequence === 3 ? 500 : 204).end()
  const { session, user } = await registerPerson(world())
  const { webhook } = await createWebhook(world(), session, { url: receiver.url })
  await recordEvents(world(), user.id, 4)
  await dispatch(world())
  const first = await deliveries(session, webhook.id, '?limit=2')
  t.deepEqual(
    first.body.deliveries.map(({ sequence }) => sequence),
    [5, 4],
  )
  const rest = await deliveries(session, webhook.id, `?limit=50&cursor=${first.body.nextCursor}`)
  t.deepEqual(
    rest.body.deliveries.map(({ sequence, state, status }) => [sequence, state, status]),
    [
      [3, 'pending', 500],
      [2, 'delivered', 204],
      [1, 'delivered', 204],
    ],
  )
  t.is(rest.body.nextCursor, null)
  const pending = await deliveries(session, webhook.id, '?state=pending')
  t.deepEqual(
    pending.body.deliveries.map(({ sequence }) => sequence),
    [3],
  )
  for (const [query, error] of [
    ['?state=lost', 'Invalid state'],
    ['?cursor=x', 'Invalid cursor'],
    ['?limit=0', 'Invalid limit'],
  ]) {
    const answer = await deliveries(session, webhook.id, query)
    t.deepEqual([answer.status, (answer.body as unknown as Refused).error], [400, error])
  }
})

test.serial('a redelivery names one event, a range, or what failed, and nothing else', async (t) => {
  const { session, user } = await registerPerson(world())
  const { webhook } = await createWebhook(world(), session, { url: 'http://localhost:9/' })
  const event = `evt_${user.id.replaceAll('-', '')}_1`
  for (const [body, status, error] of [
    [{}, 400, 'Invalid redelivery'],
    [{ event, failed: true }, 400, 'Invalid redelivery'],
    [{ from: 2, to: 1 }, 400, 'Invalid redelivery'],
    [{ from: 1 }, 400, 'Invalid redelivery'],
    [{ from: 0, to: 1 }, 400, 'Invalid redelivery'],
    [{ failed: false }, 400, 'Invalid redelivery'],
    [{ event: 'evt_1' }, 400, 'Invalid redelivery'],
    [{ event: `evt_${'0'.repeat(32)}_1` }, 404, 'Event not found'],
    [{ event: event.replace(/1$/, '99') }, 404, 'Event not found'],
    [{ from: 50, to: 60 }, 404, 'Event not found'],
  ] as const) {
    const answer = await act(session, webhook.id, 'redeliver', body)
    t.deepEqual([answer.status, answer.body['error']], [status, error], JSON.stringify(body))
  }
  t.is((await act(session, webhook.id, 'redeliver', { event })).body['queued'], 1)
  t.is((await act(session, webhook.id, 'redeliver', { from: 1, to: 100 })).body['queued'], 1)
  t.is((await act(session, webhook.id, 'redeliver', { failed: true })).body['queued'], 0)
})
