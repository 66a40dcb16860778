import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../scripts/dev/ports.js'
import { ProviderError } from '../../src/kernel/provider-error.js'
import type { Collections } from '../../src/ports/collections.js'
import { createFiatpayCollections } from '../../src/providers/fiatpay/collections.js'
import { createFiatpayRefunds } from '../../src/providers/fiatpay/refunds.js'

const returnUrl = 'https://tips.example/paid'

interface ReceivedRequest {
  readonly url: string
  readonly authorization: string | undefined
  readonly body: unknown
}

interface FixedProvider {
  readonly url: string
  readonly fiatpay: Collections
  readonly requests: ReceivedRequest[]
}

/** A provider that gives the same answer to every request. */
async function startProvider(
  t: ExecutionContext,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<FixedProvider> {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    const { authorization } = request.headers
    requests.push({ url: request.url ?? '', authorization, body: sent === '' ? undefined : JSON.parse(sent) })
    response.writeHead(status, { connection: 'close', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, fiatpay: createFiatpayCollections({ url, secretKey: 'sk_test_1', returnUrl }), requests }
}

const charge = { reference: `fiatpay-${'a'.repeat(32)}`, amountKobo: 1_520_000n, email: 'guest@example.com' }
const refused = (message: string) => ({ status: false, message, type: 'validation_error', code: 'x' })
const row = {
  id: 77,
  status: 'success',
  reference: charge.reference,
  amount: 1_520_000,
  currency: 'NGN',
  paid_at: '2026-11-21T07:00:00.000Z',
}
const answered = (data: unknown) => ({ status: true, message: 'ok', data })

async function failureKind(scripted: Pick<FixedProvider, 'fiatpay'>): Promise<string> {
  try {
    await scripted.fiatpay.openCheckout(charge)
    return 'none'
  } catch (error) {
    return error instanceof ProviderError ? error.kind : String(error)
  }
}

for (const [what, status, body, kind] of [
  ['a refusal in its envelope', 400, refused('Invalid Amount Sent'), 'rejected'],
  ['an unprocessable request', 422, refused('No'), 'rejected'],
  ['a wrong key', 401, refused('Invalid key'), 'unavailable'],
  ['no right to it', 403, refused('Not allowed'), 'unavailable'],
  ['too much load', 429, refused('Slow down'), 'unavailable'],
  ['maintenance', 503, '<html>', 'unavailable'],
  ['a gateway’s own page', 400, '<html>', 'unavailable'],
  ['a crash', 500, refused('An error occurred'), 'ambiguous'],
  ['a lost upstream', 504, '', 'ambiguous'],
  ['a success without JSON', 200, 'ok', 'ambiguous'],
  ['a success without data', 200, answered({}), 'ambiguous'],
  ['a success that says false', 200, refused('No'), 'ambiguous'],
  ['far too much', 200, 'x'.repeat(300_000), 'ambiguous'],
] as const)
  test(`${what} (${status}) is ${kind}`, async (t) => {
    t.is(await failureKind(await startProvider(t, status, body)), kind)
  })

test('a redirect is not followed, because it would send the key to another host', async (t) => {
  const other = await startProvider(t, 200, answered({}))
  const scripted = await startProvider(t, 307, '', { location: other.url })
  t.is(await failureKind(scripted), 'ambiguous')
  t.is(other.requests.length, 0)
})

test('a provider that cannot be reached is unavailable', async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`
  t.is(
    await failureKind({ fiatpay: createFiatpayCollections({ url, secretKey: 'x', returnUrl }) }),
    'unavailable',
  )
})

test('the text of a refusal is cut and cleaned, because callers see it', async (t) => {
  const { fiatpay } = await startProvider(t, 400, refused(`bad\u0000\u202e ${'y'.repeat(500)}`))
  const error = await t.throwsAsync(fiatpay.openCheckout(charge), { instanceOf: ProviderError })
  t.is(error?.message.length, 200)
  t.regex(error?.message ?? '', /^bad y+$/)
})

test('while the key changes, webhooks that are signed with either key count, and calls use the first', async (t) => {
  const { url, requests } = await startProvider(t, 404, refused('Transaction reference not found.'))
  const webhookKeys = ['sk_test_new', 'sk_test_old']
  const fiatpay = createFiatpayCollections({ url, secretKey: 'sk_test_new', webhookKeys, returnUrl })
  const raw = Buffer.from(JSON.stringify({ event: 'charge.success', data: { reference: charge.reference } }))
  const read = (key: string) =>
    fiatpay.readWebhook(raw, () => createHmac('sha512', key).update(raw).digest('hex'))
  t.deepEqual(webhookKeys.map(read), [charge.reference, charge.reference])
  t.is(read('sk_test_older'), undefined)
  await fiatpay.findCharge(charge.reference)
  t.deepEqual(
    requests.map(({ authorization }) => authorization),
    ['Bearer sk_test_new'],
  )
})

test('a checkout is opened in kobo, with the key as bearer and our page as callback', async (t) => {
  const { fiatpay, requests } = await startProvider(
    t,
    200,
    answered({ authorization_url: 'https://pay.example/1' }),
  )
  t.is(await fiatpay.openCheckout(charge), 'https://pay.example/1')
  t.deepEqual(requests, [
    {
      url: '/transaction/initialize',
      authorization: 'Bearer sk_test_1',
      body: {
        email: charge.email,
        amount: '1520000',
        currency: 'NGN',
        reference: charge.reference,
        callback_url: returnUrl,
      },
    },
  ])
})

test('every status but success and failed counts as unpaid', async (t) => {
  for (const status of ['abandoned', 'pending', 'ongoing', 'processing', 'queued', 'reversed', 'new']) {
    const { fiatpay } = await startProvider(t, 200, answered({ ...row, status, paid_at: null }))
    t.deepEqual(await fiatpay.findCharge(charge.reference), { status: 'unpaid' })
  }
  const missing = await startProvider(t, 404, refused('Transaction reference not found.'))
  t.deepEqual(await missing.fiatpay.findCharge(charge.reference), { status: 'unpaid' })
  const failed = await startProvider(t, 200, answered({ ...row, status: 'failed', paid_at: null }))
  t.deepEqual(await failed.fiatpay.findCharge(charge.reference), { status: 'failed' })
})

for (const [what, change] of Object.entries({
  'another currency': { currency: 'GHS' },
  'another reference': { reference: 'fiatpay-other' },
  'no time of payment': { paid_at: null },
  'half a kobo': { amount: 0.5 },
  'a negative amount': { amount: -5 },
}))
  test(`a payment with ${what} is refused as an answer`, async (t) => {
    const { fiatpay } = await startProvider(t, 200, answered({ ...row, ...change }))
    await t.throwsAsync(fiatpay.findCharge(charge.reference), { instanceOf: ProviderError })
  })

test('refunds of other payments are not read, and an unusual one of this payment stops', async (t) => {
  const own = { id: 5, transaction: 77, amount: '500000', currency: 'NGN', status: 'processed' }
  const others = [
    { ...own, id: 6, transaction: 78, currency: 'USD' },
    { ...own, id: 7, transaction: 79, status: 'unheard-of', amount: null },
    { ...own, id: 8, transaction: { id: 80, reference: 'other' } },
  ]
  const list = async (rows: unknown[]) => {
    const { url } = await startProvider(t, 200, answered(rows))
    return createFiatpayRefunds({ url, secretKey: 'x', timeoutMs: 5000 }).list('77', new Date(0))
  }
  t.deepEqual(await list([...others, own]), [
    { id: '5', transaction: '77', kobo: 500_000n, state: 'paid', dispute: null, note: '' },
  ])
  t.deepEqual(await list(others), [])
  for (const odd of [{ currency: 'USD' }, { status: 'unheard-of' }, { amount: null }])
    await t.throwsAsync(list([...others, { ...own, ...odd }]), { instanceOf: ProviderError })
  // It may be a refund of this payment.
  await t.throwsAsync(list([{ ...own, transaction: null }]), { instanceOf: ProviderError })
})
