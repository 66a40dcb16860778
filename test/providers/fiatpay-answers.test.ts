import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { ProviderError } from '../../src/kernel/provider-error.js'
import { createFiatpayCollections } from '../../src/providers/fiatpay/collections.js'
import { createFiatpayDisputes } from '../../src/providers/fiatpay/disputes.js'
import { createFiatpayPayouts } from '../../src/providers/fiatpay/payouts.js'
import { createFiatpayRefunds } from '../../src/providers/fiatpay/refunds.js'

interface Sent {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly type: string | undefined
  readonly authorization: string | undefined
  readonly body: string
}

/** A provider that gives these texts as data, one after the other; the last one again and again. */
async function startProvider(t: ExecutionContext, ...data: readonly string[]) {
  const requests: Sent[] = []
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString('latin1')
    const { authorization, 'content-type': type } = request.headers
    const text = data[Math.min(requests.length, data.length - 1)]
    requests.push({ method: request.method, url: request.url, type, authorization, body })
    response.writeHead(200, { connection: 'close' })
    response.end(`{"status":true,"message":"ok","data":${text?.replaceAll('HOST', url)}}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const access = { url, secretKey: 'sk_test_1', timeoutMs: 5000 }
  return {
    requests,
    collections: createFiatpayCollections({ ...access, returnUrl: 'https://tips.example/paid' }),
    disputes: createFiatpayDisputes(access),
    payouts: createFiatpayPayouts({ ...access, deduplicates: true }),
    refunds: createFiatpayRefunds(access),
  }
}

type Row = Readonly<Record<string, unknown>>

/** `1e400` cannot be written with JSON.stringify. */
const wire = (row: unknown) => JSON.stringify(row).replaceAll('"HUGE"', '1e400')
const badAmounts = ['HUGE', 'NaN', '', '1e400', '12.5', 1.5, true, [5], {}, null]

async function all<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const found: Item[] = []
  for await (const page of pages) found.push(...page)
  return found
}

const from = new Date('2026-11-20T00:00:00.000Z')
const to = new Date('2026-11-22T00:00:00.000Z')
const reference = `fiatpay-${'a'.repeat(32)}`
const payment = {
  id: 77,
  status: 'success',
  reference,
  amount: 500_000,
  fees: 17_500,
  currency: 'NGN',
  paid_at: '2026-11-21T07:00:00.000Z',
}
const dispute = {
  id: 358_950,
  refund_amount: '5800',
  currency: 'NGN',
  status: 'awaiting-merchant-feedback',
  resolution: null,
  transaction: { id: 77, reference, amount: 5800, currency: 'NGN', status: 'success' },
  transaction_reference: null,
  category: 'chargeback',
  dueAt: '2026-11-25T18:00:00.000Z',
  resolvedAt: null,
  createdAt: '2026-11-24T13:46:57.000Z',
}
const transfer = { amount: 500_000, currency: 'NGN', reference, status: 'success', transfer_code: 'TRF_1' }
const refund = {
  id: 5,
  transaction: 77,
  amount: '500000',
  currency: 'NGN',
  status: 'processed',
  dispute: null,
}

test('a payment has its fee, and a reversed one says so', async (t) => {
  const rows = [
    { ...payment, id: 78, status: 'reversed', fees: '17500' },
    { ...payment, id: 79, status: 'abandoned', paid_at: null },
    { ...payment, id: 80, fees: null },
    payment,
  ]
  const { collections, requests } = await startProvider(t, wire(rows))
  const seen = (list: readonly { transaction: string; feeKobo: bigint; reversed: boolean }[]) =>
    list.map(({ transaction, feeKobo, reversed }) => [transaction, feeKobo, reversed])
  const expected = [
    ['77', 17_500n, false],
    ['78', 17_500n, true],
    ['80', 0n, false],
  ]
  t.deepEqual(seen(await collections.listPayments(reference)), expected)
  const listed = await all(collections.listAllPayments(from, to))
  t.deepEqual(seen(listed.toReversed()).sort(), expected)
  t.true(listed.every((one) => one.reference === reference))
  t.regex(requests[1]?.url ?? '', /^\/transaction\?from=2026-11-20.*&to=2026-11-22.*&perPage=100&page=1$/)
  const reversed = await startProvider(t, wire({ ...payment, status: 'reversed' }))
  t.like(await reversed.collections.findCharge(reference), {
    status: 'reversed',
    newest: { kobo: 500_000n, reversed: true },
  })
})

test('a list is read to its end, page by page', async (t) => {
  const { refunds, requests } = await startProvider(
    t,
    wire(Array.from({ length: 100 }, (_, at) => ({ ...refund, id: at + 1 }))),
    wire([{ ...refund, id: 200, dispute: 358_950, merchant_note: 'ours' }]),
  )
  const found = await all(refunds.listAll(from, to))
  t.is(found.length, 101)
  t.deepEqual(found[100], {
    id: '200',
    transaction: '77',
    kobo: 500_000n,
    state: 'paid',
    dispute: '358950',
    note: 'ours',
  })
  t.deepEqual(
    requests.map(({ url }) => new URLSearchParams(url?.split('?')[1]).get('page')),
    ['1', '2'],
  )
})

test('a row that cannot be read hides no other, and the list ends with an error that counts it', async (t) => {
  const meta = '"meta":{"pageCount":2}'
  const bad = { ...refund, id: 1, amount: 1.5 }
  const pages = [`${wire([bad, { ...refund, id: 2 }])},${meta}`, `${wire([{ ...refund, id: 3 }])},${meta}`]
  const { refunds } = await startProvider(t, ...pages)
  const seen: string[] = []
  const error = await t.throwsAsync(
    async () => {
      for await (const rows of refunds.listAll(from, to)) seen.push(...rows.map(({ id }) => id))
    },
    { instanceOf: ProviderError },
  )
  t.deepEqual(seen, ['2', '3'])
  t.regex(error?.message ?? '', /^a row of \/refund cannot be read, 1: .*amount/)
})

test('a list is read to its end by a provider that has shorter pages', async (t) => {
  const meta = '"meta":{"pageCount":3}'
  const pages = [1, 2, 3].map((id) => `${wire([{ ...refund, id }])},${meta}`)
  const { refunds, requests } = await startProvider(t, ...pages)
  t.deepEqual(
    (await all(refunds.listAll(from, to))).map(({ id }) => id),
    ['1', '2', '3'],
  )
  t.is(requests.length, 3)
})

test('the balance is the one in naira, and may be negative', async (t) => {
  const dollars = { currency: 'USD', balance: 5 }
  const { payouts } = await startProvider(t, wire([dollars, { currency: 'NGN', balance: -1_700_000 }]))
  t.is(await payouts.readBalance(), -1_700_000n)
  for (const rows of [
    [],
    [dollars],
    [
      { currency: 'NGN', balance: 1 },
      { currency: 'NGN', balance: 2 },
    ],
    null,
  ])
    await t.throwsAsync((await startProvider(t, wire(rows))).payouts.readBalance(), {
      instanceOf: ProviderError,
    })
})

test('a transfer has its fee, 0 when the answer does not name it', async (t) => {
  for (const [fee, kobo] of [
    [2500, 2500n],
    ['2500', 2500n],
    [null, 0n],
    [undefined, 0n],
  ] as const) {
    const { payouts } = await startProvider(t, wire({ ...transfer, fee_charged: fee }))
    t.is((await payouts.findTransfer(reference))?.feeKobo, kobo)
  }
})

test('a dispute has its charge, its amount and the time until when it can be answered', async (t) => {
  const { disputes } = await startProvider(t, wire(dispute))
  t.deepEqual(await disputes.find('358950'), {
    id: '358950',
    transaction: '77',
    reference,
    kobo: 5800n,
    state: 'open',
    autoAccepted: false,
    category: 'chargeback',
    createdAt: new Date(dispute.createdAt),
    dueAt: new Date(dispute.dueAt),
    resolvedAt: null,
  })
  await t.throwsAsync(disputes.find('358951'), { message: /another dispute/ })
})

test('the state of a dispute is its status and its resolution, and an unknown one is unclear', async (t) => {
  for (const [status, resolution, state] of [
    ['awaiting-merchant-feedback', null, 'open'],
    ['pending', null, 'open'],
    ['awaiting-bank-feedback', 'declined', 'answered'],
    ['resolved', 'declined', 'won'],
    ['resolved', 'merchant-accepted', 'lost'],
    ['resolved', 'auto-accepted', 'lost'],
    ['resolved', null, 'unclear'],
    ['resolved', 'unheard-of', 'unclear'],
    ['archived', null, 'unclear'],
  ] as const) {
    const { disputes } = await startProvider(t, wire([{ ...dispute, status, resolution }]))
    const [found] = await all(disputes.list(from, to))
    t.is(found?.state, state)
    t.is(found?.autoAccepted, resolution === 'auto-accepted')
  }
})

test('a dispute without an amount, or declined with 0, is about the whole payment', async (t) => {
  for (const refund_amount of [null, undefined, 0]) {
    const { disputes } = await startProvider(t, wire({ ...dispute, refund_amount }))
    t.is((await disputes.find('358950'))?.kobo, 5800n)
  }
})

test('an answer, its evidence and its file are sent as the provider documents', async (t) => {
  const upload = wire({ signedUrl: 'HOST/signed/1', fileName: 'qesp8a4df1xejihd9x5q' })
  const resolved = { ...dispute, status: 'resolved', resolution: 'merchant-accepted' }
  const { disputes, requests } = await startProvider(
    t,
    wire({ id: 21 }),
    ...[upload, 'null', wire({ ...dispute, status: 'awaiting-bank-feedback' })],
    ...[upload, 'null', wire(resolved)],
  )
  const evidence = { email: 'a@example.com', name: 'Ada', phone: '0802', service: 'a tip' }
  t.is(await disputes.addEvidence('358950', evidence), '21')
  const bytes = new Uint8Array([0x25, 0x50, 0xff])
  const file = { name: 'evidence.pdf', type: 'application/pdf', bytes }
  const declined = { answer: 'decline', message: 'Paid out', kobo: 0n, file, evidence: '21' } as const
  t.is((await disputes.answer('358950', declined)).state, 'answered')
  const accepted = { answer: 'accept', message: 'Yes', kobo: 5800n, file } as const
  t.is((await disputes.answer('358950', accepted)).state, 'lost')
  const path = '/dispute/358950'
  const put = {
    resolution: 'declined',
    message: 'Paid out',
    refund_amount: 0,
    uploaded_filename: 'qesp8a4df1xejihd9x5q',
  }
  t.like(requests, [
    { method: 'POST', url: `${path}/evidence` },
    { method: 'GET', url: `${path}/upload_url?upload_filename=evidence.pdf` },
    { method: 'PUT', url: '/signed/1', type: 'application/pdf', body: '%P\u00ff', authorization: undefined },
    { method: 'PUT', url: `${path}/resolve`, body: JSON.stringify({ ...put, evidence: 21 }) },
    { method: 'GET' },
    { method: 'PUT', url: '/signed/1' },
    { method: 'PUT', url: `${path}/resolve` },
  ])
  t.deepEqual(JSON.parse(requests[0]?.body ?? ''), {
    customer_email: 'a@example.com',
    customer_name: 'Ada',
    customer_phone: '0802',
    service_details: 'a tip',
  })
  t.like(JSON.parse(requests[6]?.body ?? ''), { resolution: 'merchant-accepted', refund_amount: 5800 })
})

test('a webhook names its charge, wherever its kind of event has the reference', async (t) => {
  const { collections } = await startProvider(t, 'null')
  const nameIn = (event: string, data: unknown) => {
    const raw = Buffer.from(JSON.stringify({ event, data }))
    const signature = createHmac('sha512', 'sk_test_1').update(raw).digest('hex')
    return collections.readWebhook(raw, () => signature)
  }
  for (const kind of ['create', 'remind', 'resolve'])
    t.is(nameIn(`charge.dispute.${kind}`, dispute), reference)
  for (const kind of ['pending', 'processing', 'processed', 'failed', 'needs-attention'])
    t.is(nameIn(`refund.${kind}`, { transaction_reference: reference, refund_reference: 'TRF_1' }), reference)
  t.is(nameIn('transfer.success', { reference }), reference)
  t.is(nameIn('charge.dispute.create', { ...dispute, transaction: { id: 77 } }), null)
  for (const unknown of ['', 'a\u0000b', '\ud800', 'x'.repeat(5000), 'a b'])
    t.is(nameIn('charge.success', { reference: unknown }), null, 'no row has such a reference')
})

test('an answer whose file cannot be stored is not sent, and no file goes to another host without TLS', async (t) => {
  const upload = { signedUrl: 'http://127.0.0.1:1/signed', fileName: 'x' }
  const { disputes, requests } = await startProvider(t, wire(upload))
  const file = { name: 'e.pdf', type: 'application/pdf', bytes: new Uint8Array(1) }
  const error = await t.throwsAsync(
    disputes.answer('1', { answer: 'accept', message: 'Yes', kobo: 1n, file }),
    { instanceOf: ProviderError, message: /without TLS for a file; the dispute is not answered/ },
  )
  t.is(error?.kind, 'unavailable')
  t.is(requests.length, 1)
})

type Provider = Awaited<ReturnType<typeof startProvider>>
const reads: Record<string, { row: Row; field: string; read: (provider: Provider) => Promise<unknown> }> = {
  'the amount of a listed payment': {
    row: payment,
    field: 'amount',
    read: ({ collections }) => all(collections.listAllPayments(from, to)),
  },
  'the amount of a listed refund': {
    row: refund,
    field: 'amount',
    read: ({ refunds }) => all(refunds.listAll(from, to)),
  },
  'the amount of a listed transfer': {
    row: transfer,
    field: 'amount',
    read: ({ payouts }) => all(payouts.listTransfers(from, to)),
  },
  'the amount of a dispute’s payment': {
    row: dispute,
    field: 'transaction.amount',
    read: ({ disputes }) => all(disputes.list(from, to)),
  },
  'a balance': {
    row: { currency: 'NGN', balance: 1 },
    field: 'balance',
    read: ({ payouts }) => payouts.readBalance(),
  },
}
const withField = (row: Row, field: string, value: unknown): Row => {
  const [name = '', inner] = field.split('.')
  return { ...row, [name]: inner === undefined ? value : { ...(row[name] as Row), [inner]: value } }
}
for (const [what, { row, field, read }] of Object.entries(reads))
  test(`${what} that is not whole kobo is refused as an answer`, async (t) => {
    await t.notThrowsAsync(read(await startProvider(t, wire([row]))))
    for (const bad of [...badAmounts, undefined])
      await t.throwsAsync(
        read(await startProvider(t, wire([withField(row, field, bad)]))),
        { instanceOf: ProviderError },
        wire({ bad }),
      )
  })

test('fees, currencies, times and references that make no sense are refused as an answer', async (t) => {
  const refuse = async (read: (provider: Provider) => Promise<unknown>, row: unknown) => {
    await t.throwsAsync(read(await startProvider(t, wire([row]))), { instanceOf: ProviderError }, wire(row))
  }
  const payments = ({ collections }: Provider) => all(collections.listAllPayments(from, to))
  const transfers = ({ payouts }: Provider) => all(payouts.listTransfers(from, to))
  const disputes = (provider: Provider) => all(provider.disputes.list(from, to))
  for (const fee of [-1, 'x', 'HUGE', 1.5, {}]) {
    await refuse(payments, { ...payment, fees: fee })
    await refuse(transfers, { ...transfer, fee_charged: fee })
  }
  for (const change of [
    { currency: 'GHS' },
    { paid_at: 'yesterday' },
    { paid_at: null },
    { reference: null },
  ])
    await refuse(payments, { ...payment, ...change })
  for (const change of [
    { currency: 'GHS' },
    { refund_amount: 5801 },
    { refund_amount: -1 },
    { refund_amount: 'HUGE' },
    { createdAt: undefined },
    { dueAt: 'soon' },
    { status: null },
    { transaction: null },
    { transaction: { ...dispute.transaction, reference: undefined } },
    { id: '358950' },
  ])
    await refuse(disputes, { ...dispute, ...change })
})
