import test from 'ava'
import { until } from '../../helpers/until.js'
import {
  createCaller,
  newRecipient,
  newReference,
  type SentTransfer,
  startFiatFor,
  transferBody,
} from './client.js'

test('banks are listed by page, and their codes have three digits or more', async (t) => {
  const { get } = createCaller(await startFiatFor(t))
  const { body } = await get<{ code: string; name: string }[]>('/bank?country=nigeria&perPage=100')
  t.is(body.message, 'Banks retrieved')
  t.like(
    body.data.find(({ code }) => code === '058'),
    { name: 'Guaranty Trust Bank', currency: 'NGN', type: 'nuban' },
  )
  t.true(body.data.some(({ code }) => code.length > 3))
  const second = await get<{ code: string }[]>('/bank?perPage=10&page=2')
  t.deepEqual(
    second.body.data.map(({ code }) => code),
    body.data.slice(10, 20).map(({ code }) => code),
  )
  t.like(second.body.meta, { total: body.data.length, perPage: 10, page: 2, skipped: 10 })
  t.is((await get('/bank?perPage=0')).status, 400)
})

test('an account resolves to the name of its last created recipient', async (t) => {
  const { get, post } = createCaller(await startFiatFor(t))
  const resolve = async (account: string, bank = '058') => {
    const path = `/bank/resolve?account_number=${account}&bank_code=${bank}`
    const { status, body } = await get<{ account_name: string }>(path)
    return body.status ? body.data.account_name : `${status} ${body.code}`
  }
  t.is(await resolve('0123456789'), 'SANDBOX ACCOUNT')
  const recipient = { type: 'nuban', account_number: '0123456789', bank_code: '058', currency: 'NGN' }
  const first = await post<{ recipient_code: string }>('/transferrecipient', { ...recipient, name: 'Ada' })
  t.is(first.status, 201)
  t.like(first.body, { message: 'Transfer recipient created successfully' })
  t.like(first.body.data, { type: 'nuban', name: 'Ada', details: { account_number: '0123456789' } })
  t.is(await resolve('0123456789'), 'Ada')
  const again = await post<{ recipient_code: string }>('/transferrecipient', {
    ...recipient,
    name: 'Ada Obi',
  })
  t.is(again.body.data.recipient_code, first.body.data.recipient_code)
  t.notRegex(again.body.data.recipient_code, /0123456789/)
  t.is(await resolve('0123456789'), 'Ada Obi')
  t.is(await resolve('0123456789', '044'), 'SANDBOX ACCOUNT')
  t.is(await resolve('0000000000'), '422 invalid_bank_code')
  t.is(await resolve('0123456789', '999'), '400 invalid_params')
  t.is(await resolve('123'), '400 invalid_account_number')
})

test('a transfer is `pending`, then becomes `success` after a delay', async (t) => {
  const fiat = await startFiatFor(t, { fees: true })
  fiat.fiatpay.faults.setFault({ settleMs: 100 })
  const { get, post } = createCaller(fiat)
  const reference = newReference()
  const { status, body } = await post<SentTransfer>(
    '/transfer',
    transferBody(await newRecipient({ post }), reference),
  )
  t.is(status, 200)
  t.like(body, { status: true, message: 'Transfer has been queued' })
  t.like(body.data, { status: 'pending', reference, amount: 100_000, currency: 'NGN' })
  t.regex(body.data.transfer_code, /^TRF_/)
  const lookUp = async () => (await get<SentTransfer>(`/transfer/verify/${reference}`)).body
  await until('the transfer settles', async () => (await lookUp()).data.status !== 'pending')
  const settled = await lookUp()
  t.is(settled.message, 'Transfer retrieved')
  t.like(settled.data, {
    id: body.data.id,
    status: 'success',
    reference,
    amount: 100_000,
    fee_charged: 1000,
    recipient: { details: { account_number: '0123456789', bank_code: '058' } },
  })
  const [line] = fiat.fiatpay.log().transfers
  t.like(line, { reference, amountKobo: 100_000, accountNumber: '0123456789', status: 'success' })
  t.true(Date.parse(line?.executedAt ?? '') <= Date.now())
})

test('in manual mode a transfer waits for a control, and can be reversed afterwards', async (t) => {
  const { get, post, control } = createCaller(await startFiatFor(t))
  await control('fiatpay/mode', { transfers: 'manual' })
  const reference = newReference()
  await post('/transfer', transferBody(await newRecipient({ post }), reference))
  const ownId = `FIATPAY-${reference.slice('fiatpay-'.length).toUpperCase()}`
  const outcome = (body: object) => control(`fiatpay/transfers/${ownId}`, body)
  const lookUp = async () => (await get<SentTransfer>(`/transfer/verify/${reference}`)).body.data
  t.is((await lookUp()).status, 'pending')
  t.is((await outcome({ outcome: 'success' })).status, 200)
  t.is((await outcome({ outcome: 'success' })).status, 200, 'a repeated outcome')
  t.like(await lookUp(), { status: 'success', gateway_response: null })
  t.is((await outcome({ outcome: 'reversed', reason: 'Account closed' })).status, 200)
  t.like(await lookUp(), { status: 'reversed', gateway_response: 'Account closed' })
  t.is((await control(`fiatpay/transfers/${newReference()}`, { outcome: 'success' })).status, 404)
  t.is((await outcome({ outcome: 'otp' })).status, 400)
})

test('a reference is executed once, also when it is repeated with other amounts', async (t) => {
  const fiat = await startFiatFor(t)
  const { post } = createCaller(fiat)
  const reference = newReference()
  const recipient = await newRecipient({ post })
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, n) => post('/transfer', transferBody(recipient, reference, 100_000 + n))),
  )
  t.is(all.filter(({ status }) => status === 200).length, 1)
  const refused = all.find(({ status }) => status !== 200)
  t.like(refused, {
    status: 400,
    body: {
      status: false,
      message: 'Please provide a unique reference. Reference already exists on a transfer',
      code: 'duplicate_transfer_reference',
      type: 'validation_error',
    },
  })
  t.is(fiat.fiatpay.log().transfers.length, 1)
  t.is(fiat.fiatpay.sendings.all()[reference], 20)
})

test('transfers are listed newest first, by page, status and time', async (t) => {
  const fiat = await startFiatFor(t)
  fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const { get, post, control } = createCaller(fiat)
  const recipient = await newRecipient({ post })
  const references = Array.from({ length: 5 }, newReference)
  for (const reference of references) await post('/transfer', transferBody(recipient, reference))
  await control(`fiatpay/transfers/${references[1]}`, { outcome: 'failed' })
  const list = async (query: string) =>
    (await get<SentTransfer[]>(`/transfer?${query}`)).body.data.map(({ reference }) =>
      references.indexOf(reference),
    )
  t.deepEqual(await list(''), [4, 3, 2, 1, 0])
  t.deepEqual(await list('perPage=2&page=2'), [2, 1])
  t.deepEqual(await list('status=failed'), [1])
  t.deepEqual(await list(`from=${new Date(Date.now() + 60_000).toISOString()}`), [])
  t.deepEqual(await list(`to=${new Date(Date.now() + 60_000).toISOString()}&perPage=1`), [4])
  t.is((await get('/transfer?from=yesterday')).status, 400)
})

test('invalid transfers are refused with the provider’s codes, and nothing is executed', async (t) => {
  const fiat = await startFiatFor(t)
  const { get, post } = createCaller(fiat)
  const recipient = await newRecipient({ post })
  const send = async (changes: object) => {
    const sent = { ...transferBody(recipient, newReference()), ...changes }
    const { status, body } = await post('/transfer', sent)
    return `${status} ${body.code}`
  }
  t.is(await send({ recipient: 'RCP_nobody' }), '400 invalid_transfer_recipient')
  t.is(await send({ recipient: undefined }), '400 invalid_transfer_recipient')
  t.is(await send({ source: 'card' }), '400 invalid_params')
  t.is(await send({ currency: 'USD' }), '400 invalid_params')
  for (const amount of [0, -1, 9_999, 1.5, '', null, 1_000_000_001])
    t.is(await send({ amount }), '400 invalid_amount', String(amount))
  for (const reference of ['FIATPAY-0123456789ABCDEF', 'short', 'a b c d e f g h i j', 'x'.repeat(51)])
    t.is(await send({ reference }), '400 invalid_transfer_reference', reference)
  const misnamed = transferBody(await newRecipient({ post }, '0000000001'), newReference())
  t.like(await post('/transfer', misnamed), { status: 400, body: { message: 'Account name mismatch' } })
  for (const changes of [{ account_number: '12' }, { bank_code: '999' }, { name: '' }, { type: 'basa' }]) {
    const account = { type: 'nuban', name: 'Ada', account_number: '0123456789', bank_code: '058', ...changes }
    t.is((await post('/transferrecipient', account)).status, 400)
  }
  t.deepEqual(await get('/transfer/verify/fiatpay-unknown'), {
    status: 404,
    body: { status: false, message: 'Transfer not found' } as never,
  })
  t.deepEqual(fiat.fiatpay.log().transfers, [])
})
