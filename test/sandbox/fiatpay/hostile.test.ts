import test from 'ava'
import fc from 'fast-check'
import { requestRaw } from '../../helpers/http/raw-request.js'
import { seededRuns } from '../../helpers/random.js'
import { createCaller, newRecipient, newReference, startFiatFor, transferBody } from './client.js'

const endpoints = [
  'POST /fiatpay/transaction/initialize',
  'POST /fiatpay/charge',
  'POST /fiatpay/transferrecipient',
  'POST /fiatpay/transfer',
  'POST /fiatpay/checkout/fiatpay-known',
  'POST /dev/fiatpay/charges/fiatpay-known',
  'POST /fiatpay/refund',
  'POST /fiatpay/dispute/1/evidence',
  'PUT /fiatpay/dispute/1/resolve',
  'PUT /fiatpay/uploads/x',
  'POST /dev/fiatpay/disputes/fiatpay-known',
  'POST /dev/fiatpay/balance',
  'POST /dev/fiatpay/transfers/fiatpay-known',
  'POST /dev/rates',
] as const
const readable = [
  '/fiatpay/bank',
  '/fiatpay/bank/resolve',
  '/fiatpay/transaction',
  '/fiatpay/transaction/verify/x',
  '/fiatpay/transfer',
  '/fiatpay/transfer/verify/x',
  '/fiatpay/checkout/x',
  '/fiatpay/refund',
  '/fiatpay/dispute',
  '/fiatpay/dispute/x',
  '/fiatpay/dispute/1/upload_url',
] as const

const fields = [
  'email',
  'amount',
  'reference',
  'metadata',
  'bank_transfer',
  'recipient',
  'source',
  'account_number',
  'bank_code',
  'name',
  'type',
  'outcome',
  'amountKobo',
  'reason',
  'NGN',
  '__proto__',
  'constructor',
]
const value = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('balance', 'nuban', '058', '0123456789', 'a@example.com', 'paid', 1e308, -1, 2 ** 53, {}),
)
const body = fc.oneof(
  fc.dictionary(fc.constantFrom(...fields), value).map((given) => JSON.stringify(given)),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('', 'null', '[]', '"text"', '{"a":'.repeat(20_000), '['.repeat(60_000), 'x'.repeat(70_000)),
)
const query = fc
  .dictionary(
    fc.constantFrom('perPage', 'page', 'from', 'to', 'status', 'reference', 'account_number', 'bank_code'),
    fc.string({ maxLength: 40 }),
  )
  .map((given) => String(new URLSearchParams(given)))

test('every body and every query gets an answer or a clear refusal, and the provider keeps working', async (t) => {
  const fiat = await startFiatFor(t)
  const authorization = `Bearer ${fiat.fiatpay.secretKey}`
  const statuses = new Map<number, number>()
  const ask = async (endpoint: string, sent?: string) => {
    const [method = '', path = ''] = endpoint.split(' ')
    const answer = await requestRaw(fiat.url, method, path, { authorization }, sent)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    return answer.status < 500
  }
  const { seed, numRuns } = seededRuns(t, 300, 1200)
  const written = fc.asyncProperty(fc.constantFrom(...endpoints), body, ask)
  await fc.assert(written, { seed, numRuns })
  const read = fc.asyncProperty(fc.constantFrom(...readable), query, (path, text) =>
    ask(`GET ${path}?${text}`),
  )
  await fc.assert(read, { seed, numRuns: numRuns / 2 })
  t.log(Object.fromEntries(statuses))

  const { get, post } = createCaller(fiat)
  const sent = transferBody(await newRecipient({ post }), newReference())
  t.is((await post('/transfer', sent)).status, 200)
  t.is((await get('/transfer')).status, 200)
  t.is(({} as Record<string, unknown>)['status'], undefined)
})

test('paths that are not references are refused', async (t) => {
  const { url, fiatpay } = await startFiatFor(t)
  const headers = { authorization: `Bearer ${fiatpay.secretKey}` }
  for (const path of ['%E0%A4%A', '%00', '..%2f..%2fetc', '__proto__', 'x'.repeat(8000)]) {
    const { status } = await requestRaw(url, 'GET', `/fiatpay/transaction/verify/${path}`, headers)
    t.true(status === 404 || status === 400, `${path.slice(0, 20)}: ${status}`)
  }
  t.is((await requestRaw(url, 'GET', '/fiatpay/transaction/verify/', headers)).status, 404)
  t.is((await requestRaw(url, 'DELETE', '/fiatpay/transfer', headers)).status, 404)
})
