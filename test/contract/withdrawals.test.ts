import { assertError, check, checkFields, checkWithStandIns, once } from './support/check.js'
import { availableOf, bank, fund, refusedBank } from './support/money.js'
import { mailsTo, register, registerCreator } from './support/people.js'
import { type Answer, at, call, control, type Json, until } from './support/server.js'
import * as shape from './support/shapes.js'

// POST /payouts/withdraw, GET /payouts/history.

const poor = once(() => register())
const rich = once(async () => {
  const creator = await registerCreator()
  await fund(creator, 100)
  return creator
})

function withdraw(cookie: string, body: Json): Promise<Answer> {
  return call('POST', '/payouts/withdraw', { cookie, body: { ...bank, ...body } })
}

async function history(cookie: string, reference: unknown): Promise<Json> {
  const { body } = await call('GET', `/payouts/history?reference=${reference}`, { cookie })
  return (body['payouts'] as Json[])[0] ?? {}
}

const inUsdc = once(async () => withdraw((await rich()).cookie, { amountUSDC: 5 }))
const inNaira = once(async () => withdraw((await rich()).cookie, { amountNGN: 3000 }))

check('a withdrawal without a session is refused', async (t) => {
  assertError(
    t,
    await call('POST', '/payouts/withdraw', { body: { ...bank, amountUSDC: 1 } }),
    401,
    'Unauthorized',
  )
})
check('a withdrawal with an access token is refused: only the cookie serves', async (t) => {
  const { accessToken } = await poor()
  const body = { ...bank, amountUSDC: 1 }
  assertError(t, await call('POST', '/payouts/withdraw', { body, bearer: accessToken }), 401, 'Unauthorized')
})
for (const [title, amounts] of Object.entries<Json>({
  'without an amount': {},
  'of both amounts': { amountUSDC: 1, amountNGN: 1000 },
  'of zero USDC': { amountUSDC: 0 },
  'of zero NGN': { amountNGN: 0 },
  'of a negative amount of USDC': { amountUSDC: -1 },
  'of a negative amount of NGN': { amountNGN: -1 },
  'of text': { amountUSDC: '1' },
  'of null': { amountUSDC: null },
  'of a list': { amountUSDC: [1] },
}))
  check(`a withdrawal ${title} is refused`, async (t) => {
    assertError(t, await withdraw((await poor()).cookie, amounts), 400, 'Invalid amount')
  })
check('a withdrawal of more than any number is refused', async (t) => {
  const raw = JSON.stringify({ ...bank, amountUSDC: 0 }).replace('"amountUSDC":0', '"amountUSDC":1e400')
  const { status } = await call('POST', '/payouts/withdraw', { cookie: (await poor()).cookie, raw })
  t.is(status, 400)
})
for (const [title, changes] of Object.entries<Json>({
  'without a bank code': { bankCode: undefined },
  'without an account number': { accountNumber: undefined },
  'without an account name': { accountName: undefined },
  'with an empty account name': { accountName: '' },
  'with a bank code of two digits': { bankCode: '05' },
  'with a bank code of letters': { bankCode: 'GTB' },
  'with an account number of nine digits': { accountNumber: '012345678' },
  'with an account number of eleven digits': { accountNumber: '01234567890' },
  'with an account number of letters': { accountNumber: 'abcdefghij' },
}))
  check(`a withdrawal ${title} is refused`, async (t) => {
    assertError(
      t,
      await withdraw((await poor()).cookie, { amountUSDC: 1, ...changes }),
      400,
      'Bank details required',
    )
  })
for (const [title, amounts] of Object.entries<Json>({
  'one dollar': { amountUSDC: 1 },
  'a billion dollars': { amountUSDC: 1e9 },
  naira: { amountNGN: 5000 },
}))
  check(`${title} of an empty balance is refused`, async (t) => {
    assertError(t, await withdraw((await poor()).cookie, amounts), 400, 'Insufficient Balance')
  })
check('the history without a session is refused', async (t) => {
  assertError(t, await call('GET', '/payouts/history'), 401, 'Unauthorized')
})
check('the history of somebody who never withdrew is empty', async (t) => {
  const { status, body } = await call('GET', '/payouts/history', { cookie: (await poor()).cookie })
  t.is(status, 200)
  t.deepEqual(body['payouts'], [])
})

checkFields(checkWithStandIns, 'a withdrawal in USDC answers', async () => (await inUsdc()).body, {
  success: shape.is(true),
  provider: shape.is('fiatpay'),
  reference: shape.matches(/^FIATPAY-[0-9A-Fa-f]+$/),
  status: shape.matches(/^(pending|submitted)$/),
  amountNGN: (value) => shape.isNumber(value) && Number(value) > 0,
  systemFeeNGN: (value) => shape.isNumber(value) && Number(value) > 0,
  amountUSDC: shape.is(5),
  currency: shape.is('USDC'),
})
checkFields(checkWithStandIns, 'a withdrawal in NGN answers', async () => (await inNaira()).body, {
  success: shape.is(true),
  reference: shape.matches(/^FIATPAY-[0-9A-Fa-f]+$/),
  status: shape.matches(/^(pending|submitted)$/),
  amountUSDC: shape.isAbsent,
  currency: shape.is('NGN'),
})
checkWithStandIns('what is deposited and the fee are together what was asked for', async (t) => {
  const { body } = await inNaira()
  t.is(Number(body['amountNGN']) + Number(body['systemFeeNGN']), 3000)
})
checkWithStandIns('a withdrawal is found in the history by its reference', async (t) => {
  const { body } = await inUsdc()
  const record = await history((await rich()).cookie, body['reference'])
  t.is(record['reference'], body['reference'])
})
checkWithStandIns('a withdrawal ends as completed', async (t) => {
  const { body } = await inUsdc()
  const { cookie } = await rich()
  const record = await until('completion', 60, async () => {
    const found = await history(cookie, body['reference'])
    return found['status'] === 'completed' ? found : undefined
  })
  t.true(shape.isTimestamp(record['completedAt']))
})
checkWithStandIns('a withdrawal lowers the balance by what was asked for', async (t) => {
  const creator = await registerCreator()
  await fund(creator, 20)
  t.is((await withdraw(creator.cookie, { amountUSDC: 4 })).status, 200)
  t.is(await availableOf(creator), 15)
})
checkWithStandIns('the whole balance can be withdrawn, and not a cent more', async (t) => {
  const creator = await registerCreator()
  await fund(creator, 20)
  assertError(t, await withdraw(creator.cookie, { amountUSDC: 19.01 }), 400, 'Insufficient Balance')
  t.is((await withdraw(creator.cookie, { amountUSDC: 19 })).status, 200)
  t.is(await availableOf(creator), 0)
})
checkWithStandIns('what is not a digit is stripped from an account number', async (t) => {
  t.is((await withdraw((await rich()).cookie, { amountUSDC: 2, accountNumber: '012-345 6789' })).status, 200)
})
checkWithStandIns('a refusal of the provider is answered in its words, and costs nothing', async (t) => {
  const creator = await registerCreator()
  await fund(creator, 20)
  const answer = await withdraw(creator.cookie, { ...refusedBank, amountUSDC: 19 })
  assertError(t, answer, 502, 'Account name mismatch')
  t.is(await availableOf(creator), 19)
})
checkWithStandIns('a refused withdrawal is failed in the history', async (t) => {
  const creator = await registerCreator()
  await fund(creator, 20)
  await withdraw(creator.cookie, { ...refusedBank, amountUSDC: 19 })
  const { body } = await call('GET', '/payouts/history', { cookie: creator.cookie })
  t.is(at(body, 'payouts', 0, 'status'), 'failed')
})
checkWithStandIns('four withdrawals of the whole balance at once pay one', async (t) => {
  const creator = await registerCreator()
  await fund(creator, 20)
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => withdraw(creator.cookie, { amountUSDC: 19 })),
  )
  t.is(answers.filter(({ status }) => status === 200).length, 1)
  t.true(answers.every(({ status, body }) => status === 200 || body['error'] === 'Insufficient Balance'))
})
checkWithStandIns('a withdrawal above the threshold is held, and a mail asks for verification', async (t) => {
  const creator = await registerCreator()
  await fund(creator, 300)
  const answer = await withdraw(creator.cookie, { amountNGN: 250_000 })
  t.is(answer.status, 200, answer.text)
  t.is(answer.body['status'], 'pending')
  t.true((await mailsTo(creator.email)).some(({ subject }) => /verif/i.test(subject)))
  t.is((await history(creator.cookie, answer.body['reference']))['status'], 'pending')
})
checkWithStandIns('a withdrawal belongs to its creator alone', async (t) => {
  const { body } = await inUsdc()
  t.deepEqual(await history((await poor()).cookie, body['reference']), {})
})
checkWithStandIns('a payment that the provider reports late is the same withdrawal', async (t) => {
  const { body } = await inUsdc()
  const { cookie } = await rich()
  await until('completion', 60, async () =>
    (await history(cookie, body['reference']))['status'] === 'completed' ? true : undefined,
  )
  await control(`/dev/fiatpay/transfers/${body['reference']}`, { outcome: 'success' })
  t.is((await history(cookie, body['reference']))['status'], 'completed')
})
