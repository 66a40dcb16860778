import test from 'ava'
import { callApi, createCaller, newReference, startFiatFor, type Transaction } from './client.js'

const payer = { email: 'supporter@example.com', amount: 160_000 }

test('an initialized transaction is `abandoned` until it is paid, then `success`', async (t) => {
  const { get, post, control } = createCaller(await startFiatFor(t, { fees: true }))
  const reference = newReference()
  const opened = await post<{ authorization_url: string; access_code: string; reference: string }>(
    '/transaction/initialize',
    { ...payer, reference, metadata: { intent: 'one' } },
  )
  t.is(opened.status, 200)
  t.like(opened.body, { status: true, message: 'Authorization URL created', data: { reference } })
  const before = await get<Transaction>(`/transaction/verify/${reference}`)
  t.like(before.body.data, { status: 'abandoned', amount: 160_000, paid_at: null, channel: 'card' })

  t.is((await control(`fiatpay/charges/${reference}`, { outcome: 'paid' })).status, 200)
  const { status, body } = await get<Transaction>(`/transaction/verify/${reference}`)
  t.is(status, 200)
  t.like(body, { status: true, message: 'Verification successful' })
  t.like(body.data, {
    id: before.body.data.id,
    status: 'success',
    reference,
    amount: 160_000,
    requested_amount: 160_000,
    currency: 'NGN',
    gateway_response: 'Approved',
    fees: 2400,
    metadata: { intent: 'one' },
    customer: { email: 'supporter@example.com' },
  })
  t.true(Date.parse(body.data.paid_at ?? '') <= Date.now())
})

test('a charge by bank transfer gives an account and is `ongoing` until the money arrives', async (t) => {
  const { get, post, control } = createCaller(await startFiatFor(t))
  const reference = newReference()
  const account_expires_at = new Date(Date.now() + 60_000).toISOString()
  const charge = { ...payer, amount: '160000', reference, bank_transfer: { account_expires_at } }
  const { status, body } = await post<{ account_number: string }>('/charge', charge)
  t.is(status, 200)
  t.like(body.data, { reference, status: 'pending_bank_transfer', account_expires_at })
  t.regex(body.data.account_number, /^\d{10}$/)
  t.is((await get<Transaction>(`/transaction/verify/${reference}`)).body.data.status, 'ongoing')
  await control(`fiatpay/charges/${reference}`, { outcome: 'paid' })
  const paid = await get<Transaction>(`/transaction/verify/${reference}`)
  t.like(paid.body.data, { status: 'success', channel: 'bank_transfer' })
})

test('a second payment is a new transaction, and both are listed', async (t) => {
  const fiat = await startFiatFor(t)
  const { get, post, control } = createCaller(fiat)
  const reference = newReference()
  await post('/transaction/initialize', { ...payer, reference })
  await post('/transaction/initialize', { ...payer, reference: newReference() })
  await control(`fiatpay/charges/${reference}`, { outcome: 'paid' })
  const { data: first } = (await get<Transaction>(`/transaction/verify/${reference}`)).body
  await control(`fiatpay/charges/${reference}`, { outcome: 'paid', amountKobo: 500 })
  const { data: second } = (await get<Transaction>(`/transaction/verify/${reference}`)).body
  t.like(second, { status: 'success', amount: 500, reference })
  t.true(second.id > first.id)

  const { data } = (await get<Transaction[]>(`/transaction?reference=${reference}`)).body
  t.deepEqual(
    data.map(({ id, amount }) => [id, amount]),
    [
      [second.id, 500],
      [first.id, 160_000],
    ],
  )
  t.is((await get<Transaction[]>('/transaction')).body.data.length, 3)
  t.is((await get<Transaction[]>('/transaction?status=success')).body.data.length, 2)
  t.is(fiat.fiatpay.log().charges[0]?.paidKobo, 160_500)
})

test('a failed charge can still be paid, and a paid one cannot fail', async (t) => {
  const { get, post, control } = createCaller(await startFiatFor(t))
  const reference = newReference()
  const outcome = (wanted: string) => control(`fiatpay/charges/${reference}`, { outcome: wanted })
  t.is((await outcome('paid')).status, 404)
  await post('/transaction/initialize', { ...payer, reference })
  t.deepEqual([(await outcome('failed')).status, (await outcome('failed')).status], [200, 200])
  const failed = await get<Transaction>(`/transaction/verify/${reference}`)
  t.like(failed.body.data, { status: 'failed', gateway_response: 'Declined', paid_at: null })
  t.is((await outcome('paid')).status, 200)
  t.is((await get<Transaction>(`/transaction/verify/${reference}`)).body.data.status, 'success')
  t.is((await outcome('failed')).status, 409)
})

test('invalid charges are refused with the provider’s codes', async (t) => {
  const fiat = await startFiatFor(t)
  const { post } = createCaller(fiat)
  const reference = newReference()
  await post('/transaction/initialize', { ...payer, reference })
  const initialize = async (changes: object) => {
    const { status, body } = await post('/transaction/initialize', { ...payer, ...changes })
    return [status, body.code, body.status]
  }
  t.deepEqual(await initialize({ reference }), [400, 'duplicate_reference', false])
  for (const email of ['', 'not-an-email', 'guest@payers.local', null, undefined, 7])
    t.deepEqual(await initialize({ email }), [400, 'invalid_email_address', false], String(email))
  for (const amount of [0, -1, 1.5, '', '1e3', 'NaN', null, undefined, [], 2 ** 60])
    t.deepEqual(await initialize({ amount }), [400, 'invalid_amount', false], String(amount))
  t.deepEqual(await initialize({ amount: 1_000_000_001 }), [400, 'amount_limit_exceeded', false])
  for (const bad of ['', 'with space', 'fiatpay_underscore', 'é', 'x'.repeat(101)])
    t.deepEqual(await initialize({ reference: bad }), [400, 'invalid_reference', false], bad)
  t.deepEqual(await initialize({ currency: 'USD' }), [400, 'invalid_params', false])
  t.deepEqual(await initialize({ callback_url: 'javascript:alert(1)' }), [400, 'invalid_params', false])
  const charge = await post('/charge', { ...payer, amount: 9_999, bank_transfer: {} })
  t.like(charge, { status: 400, body: { code: 'amount_too_low' } })
  t.is(fiat.fiatpay.log().charges.length, 1)
})

test('requests without the secret key are refused', async (t) => {
  const { url, fiatpay } = await startFiatFor(t)
  for (const secretKey of ['', 'sk_test_other', `${fiatpay.secretKey} `.repeat(2)]) {
    const { status, body } = await callApi({ url, secretKey }, 'GET', '/bank')
    t.is(status, 401)
    t.like(body, { status: false, message: 'Invalid key', code: 'invalid_Key', type: 'validation_error' })
  }
  fiatpay.faults.setFault({ refuseKey: true })
  t.is((await createCaller({ url, fiatpay } as Parameters<typeof createCaller>[0]).get('/bank')).status, 401)
})
