import { randomBytes } from 'node:crypto'
import test from 'ava'
import { parseTraceparent } from '../../src/kernel/trace-context.js'
import { createClient } from '../helpers/http/client.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createFiatIntent, type FiatIntentBody, payFiatIntent } from '../helpers/make/fiat/fiat-tips.js'
import { createWebhook, startReceiver } from '../helpers/make/webhooks.js'
import { startCollector } from '../helpers/servers/collector.js'
import { startWeb, startWorkerProcess } from '../helpers/servers/service-process.js'
import { localTest, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true, env: localTest })

const newTrace = () => ({ traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') })

test.serial('one trace leads from the request over the worker to the webhook', async (t) => {
  const collector = await startCollector(t)
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const env = { ...world().env, OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` }
  const [web] = await Promise.all([
    startWeb(t, env),
    startWorkerProcess(t, 'settlement', env),
    startWorkerProcess(t, 'dispatcher', env),
  ])
  const ada = await registerCreator(world())
  await createWebhook(world(), ada.session, { url: receiver.url, types: ['naira.completed'] })
  const { traceId, spanId } = newTrace()
  const request = await createClient(web.url)
  const { body, headers } = await request<FiatIntentBody>('POST', '/payments/fiat/intent', {
    headers: { traceparent: `00-${traceId}-${spanId}-01` },
    body: { creatorId: ada.user.id, amount: 10 },
  })
  payFiatIntent(world(), body.intentId)
  const sent = () => receiver.received.find(({ body: { type } }) => type === 'naira.completed')
  await until('the webhook arrives', () => sent() !== undefined)
  const ours = () => collector.spans.filter((span) => span.traceId === traceId)
  await until('the spans arrive', () => ours().length >= 3)

  const spanOf = (service: string) => ours().find((span) => span.service === service)
  const [asked, settled, told] = [spanOf('tips-web'), spanOf('tips-settlement'), spanOf('tips-dispatcher')]
  t.like(asked, { name: 'POST /payments/fiat/intent', kind: 2, parentSpanId: spanId, status: {} })
  t.like(settled, { name: 'a naira tip was paid and confirmed', kind: 1, parentSpanId: asked?.spanId })
  t.like(told, { name: 'webhook naira.completed', kind: 3, parentSpanId: asked?.spanId })
  const attributes = Object.fromEntries((asked?.attributes ?? []).map(({ key, value }) => [key, value]))
  t.deepEqual(attributes, {
    'http.request.method': { stringValue: 'POST' },
    'http.route': { stringValue: '/payments/fiat/intent' },
    'http.response.status_code': { intValue: '200' },
    'tipping.request_id': { stringValue: String(headers['x-request-id']) },
  })
  t.deepEqual(parseTraceparent(sent()?.headers['traceparent'] as string), { traceId, spanId: told?.spanId })
  t.true(collector.spans.some(({ name, traceId: other }) => name === 'batch settlement' && other !== traceId))
  const line = web.logs.find((one) => one['tip'] === body.intentId)
  t.like(line, { requestId: headers['x-request-id'], traceId })
})

test.serial(
  'without a collector too the webhook is in the trace, and a broken header begins a new one',
  async (t) => {
    const receiver = await startReceiver()
    t.teardown(() => receiver.close())
    const ada = await registerCreator(world())
    await createWebhook(world(), ada.session, { url: receiver.url })
    await Promise.all([
      startWorkerProcess(t, 'settlement', world().env),
      startWorkerProcess(t, 'dispatcher', world().env),
    ])
    const { traceId, spanId } = newTrace()
    const asked = new Map<string, { readonly requestId: string; readonly isOurs: boolean }>()
    for (const [traceparent, isOurs] of [
      [`00-${traceId}-${spanId}-00`, true],
      [`00-${traceId}-${spanId}-01`, true],
      [`ff-${traceId}-${spanId}-01`, false],
      [`00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`, false],
      ["'; drop table tips; --", false],
      ['x'.repeat(8000), false],
    ] as const) {
      const options = { headers: { traceparent }, body: { creatorId: ada.user.id, amount: 10 } }
      const { body, headers } = await world().request<FiatIntentBody>(
        'POST',
        '/payments/fiat/intent',
        options,
      )
      asked.set(body.intentId, { requestId: String(headers['x-request-id']), isOurs })
    }
    const silent = await createFiatIntent(world(), { creatorId: ada.user.id, amount: 10 })
    for (const intentId of [...asked.keys(), silent.intentId]) payFiatIntent(world(), intentId)
    const told = () => receiver.received.filter(({ body: { type } }) => type === 'naira.completed')
    await until('all webhooks arrive', () => told().length === asked.size + 1)
    for (const { headers, body } of told()) {
      const { signature } = body.data as { readonly signature: string }
      const context = parseTraceparent(String(headers['traceparent']))
      const { requestId, isOurs } = asked.get(signature) ?? { requestId: undefined, isOurs: false }
      t.is(context?.traceId === traceId, isOurs, signature)
      if (requestId !== undefined) t.true(requestId.replaceAll('-', '').endsWith(context?.spanId ?? '?'))
      if (!isOurs && requestId !== undefined) t.is(context?.traceId, requestId.replaceAll('-', ''))
    }
    t.deepEqual(
      receiver.received
        .filter(({ body: { type } }) => type === 'ping')
        .map(({ headers }) => headers['traceparent']),
      [undefined],
      'no request is known to have caused it',
    )
  },
)
