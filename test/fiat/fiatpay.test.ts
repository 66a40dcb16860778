import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../scripts/dev/ports.js'
import { ProviderError } from '../../src/kernel/provider-error.js'
import type { Collections } from '../../src/ports/collections.js'
import { createFiatpay } from '../../src/providers/fiatpay/collections.js'

const returnUrl = 'https://tips.example/paid'

interface Asked {
  readonly url: string
  readonly authorization: string | undefined
  readonly body: unknown
}

interface Scripted {
  readonly url: string
  readonly fiatpay: Collections
  readonly asked: Asked[]
}

/** A provider that answers everything the same. */
async function answering(
  t: ExecutionContext,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Scripted> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    const { authorization } = request.headers
    asked.push({ url: request.url ?? '', authorization, body: sent === '' ? undefined : JSON.parse(sent) })
    response.writeHead(status, { connection: 'close', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, fiatpay: createFiatpay({ url, secretKey: 'sk_test_1', returnUrl }), asked }
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

async function failure(scripted: Pick<Scripted, 'fiatpay'>): Promise<string> {
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
    t.is(await failure(await answering(t, status, body)), kind)
  })

test('a redirect is not followed: it would carry the key away', async (t) => {
  const other = await answering(t, 200, answered({}))
  const scripted = await answering(t, 307, '', { location: other.url })
  t.is(await failure(scripted), 'ambiguous')
  t.is(other.asked.length, 0)
})

test('a provider that cannot be reached surely did nothing', async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`
  t.is(await failure({ fiatpay: createFiatpay({ url, secretKey: 'x', returnUrl }) }), 'unavailable')
})

test('the text of a refusal is cut and cleaned, since callers are shown it', async (t) => {
  const { fiatpay } = await answering(t, 400, refused(`bad\u0000\u202e ${'y'.repeat(500)}`))
  const error = await t.throwsAsync(fiatpay.openCheckout(charge), { instanceOf: ProviderError })
  t.is(error?.message.length, 200)
  t.regex(error?.message ?? '', /^bad y+$/)
})

test('a checkout is asked for in kobo, with the key as bearer and our page to come back to', async (t) => {
  const { fiatpay, asked } = await answering(t, 200, answered({ authorization_url: 'https://pay.example/1' }))
  t.is(await fiatpay.openCheckout(charge), 'https://pay.example/1')
  t.deepEqual(asked, [
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

test('every status but success and failed means that nothing has happened yet', async (t) => {
  for (const status of ['abandoned', 'pending', 'ongoing', 'processing', 'queued', 'reversed', 'new']) {
    const { fiatpay } = await answering(t, 200, answered({ ...row, status, paid_at: null }))
    t.deepEqual(await fiatpay.lookUp(charge.reference), { status: 'unpaid' })
  }
  const missing = await answering(t, 404, refused('Transaction reference not found.'))
  t.deepEqual(await missing.fiatpay.lookUp(charge.reference), { status: 'unpaid' })
  const failed = await answering(t, 200, answered({ ...row, status: 'failed', paid_at: null }))
  t.deepEqual(await failed.fiatpay.lookUp(charge.reference), { status: 'failed' })
})

test('a payment is told with its own number, its kobo and its time', async (t) => {
  const { fiatpay } = await answering(t, 200, answered(row))
  const newest = { transaction: '77', kobo: 1_520_000n, paidAt: new Date(row.paid_at) }
  t.deepEqual(await fiatpay.lookUp(charge.reference), { status: 'paid', newest })
})

test('payments of other charges and rows that brought no money are left out', async (t) => {
  const rows = [
    { ...row, id: 79, paid_at: '2026-11-21T08:00:00.000Z' },
    { ...row, id: 78, reference: 'fiatpay-other' },
    { ...row, id: 76, status: 'abandoned', paid_at: null },
    row,
  ]
  const { fiatpay } = await answering(t, 200, answered(rows))
  t.deepEqual(
    (await fiatpay.payments(charge.reference)).map(({ transaction }) => transaction),
    ['77', '79'],
  )
})

for (const [what, change] of Object.entries({
  'another currency': { currency: 'GHS' },
  'another reference': { reference: 'fiatpay-other' },
  'no time of payment': { paid_at: null },
  'half a kobo': { amount: 0.5 },
  'less than nothing': { amount: -5 },
}))
  test(`a payment with ${what} is no answer`, async (t) => {
    const { fiatpay } = await answering(t, 200, answered({ ...row, ...change }))
    await t.throwsAsync(fiatpay.lookUp(charge.reference), { instanceOf: ProviderError })
  })
