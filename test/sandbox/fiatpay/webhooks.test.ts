import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import type { FiatSandbox } from '../../../scripts/sandbox/fiat-sandbox.js'
import { until } from '../../helpers/until.js'
import { createCaller, newRecipient, newReference, startFiatFor, transferBody } from './client.js'

interface Received {
  readonly body: string
  readonly signature: string
  readonly at: number
}

/** Starts a server that receives webhooks and answers with `statuses` in turn, then with 200. */
async function startReceiver(t: ExecutionContext, statuses: number[] = []) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8')
    const signature = String(request.headers['x-paystack-signature'])
    received.push({ body, signature, at: performance.now() })
    response.writeHead(statuses.shift() ?? 200).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/fiatpay` }
}

async function startProvider(t: ExecutionContext, statuses?: number[]) {
  const { received, url } = await startReceiver(t, statuses)
  const fiat = await startFiatFor(t, { webhookUrl: url, secretKey: 'sk_test_of_this_test' })
  const arrived = (count: number) => until(`${count} webhooks arrive`, () => received.length >= count)
  return { fiat, received, arrived, ...createCaller(fiat) }
}

async function payOne(fiat: FiatSandbox): Promise<string> {
  const reference = newReference()
  const { post, control } = createCaller(fiat)
  await post('/transaction/initialize', { email: 'a@example.com', amount: 20_000, reference })
  await control(`fiatpay/charges/${reference}`, { outcome: 'paid' })
  return reference
}

function signed(body: string): string {
  return createHmac('sha512', 'sk_test_of_this_test').update(body).digest('hex')
}

test('a payment sends a webhook whose signature is of the bytes sent', async (t) => {
  const { fiat, received, arrived, get } = await startProvider(t)
  const reference = await payOne(fiat)
  await arrived(1)
  const [{ body, signature } = { body: '', signature: '' }] = received
  t.is(signature, signed(body))
  const { event, data } = JSON.parse(body) as { event: string; data: object }
  t.is(event, 'charge.success')
  t.deepEqual(data, (await get<object>(`/transaction/verify/${reference}`)).body.data)
})

test('every outcome of a transfer sends a webhook, and a failed charge sends none', async (t) => {
  const { fiat, received, arrived, post, control } = await startProvider(t)
  fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const reference = newReference()
  await post('/transfer', transferBody(await newRecipient({ post }), reference))
  const charge = newReference()
  await post('/transaction/initialize', { email: 'a@example.com', amount: 20_000, reference: charge })
  await control(`fiatpay/charges/${charge}`, { outcome: 'failed' })
  for (const [count, outcome] of ['success', 'reversed', 'failed'].entries()) {
    await control(`fiatpay/transfers/${reference}`, { outcome })
    await arrived(count + 1)
  }
  const events = received.map(({ body }) => JSON.parse(body) as { event: string; data: { status: string } })
  t.deepEqual(
    events.map(({ event, data }) => [event, data.status]),
    ['success', 'reversed', 'failed'].map((outcome) => [`transfer.${outcome}`, outcome]),
  )
})

test('a webhook that is not answered 200 is repeated with the same bytes', async (t) => {
  const { fiat, received, arrived } = await startProvider(t, [500])
  await payOne(fiat)
  await arrived(2)
  t.is(received[0]?.body, received[1]?.body)
})
