import { assertError, check, checkFields, checkWithStandIns, once } from './support/check.js'
import { completed } from './support/money.js'
import { freshEmail, mailsTo, registerCreator } from './support/people.js'
import { type Answer, at, call, control, type Json, until } from './support/server.js'
import * as shape from './support/shapes.js'

// POST /payments/fiat/intent, GET /payments/fiat/status, GET /payments/fiat/rate.

const creator = once(() => registerCreator())

async function intent(changes: Json = {}): Promise<Answer> {
  return call('POST', '/payments/fiat/intent', {
    body: { creatorId: (await creator()).id, amount: 10, ...changes },
  })
}

function status(intentId: unknown): Promise<Answer> {
  return call('GET', `/payments/fiat/status?intentId=${intentId}`)
}

async function listedTip(intentId: unknown, wallet: string): Promise<Json | undefined> {
  const { body } = await call('GET', `/chain/tips?address=${wallet}`)
  return (body['tips'] as Json[]).find(({ signature }) => signature === intentId)
}

/** Opens an intent and pays it. */
async function pay(changes: Json = {}): Promise<string> {
  const intentId = String((await intent(changes)).body['intentId'])
  await control(`/dev/fiatpay/charges/${intentId}`, { outcome: 'paid' })
  await until('completion', 30, () => completed(intentId))
  return intentId
}

const issued = once(async () => {
  const person = await registerCreator()
  const answer = await intent({ creatorId: person.id, senderName: 'Bola', memo: 'well done' })
  return { answer, person, tip: await listedTip(answer.body['intentId'], person.wallet) }
})
const settled = once(async () => {
  const email = freshEmail()
  const person = await registerCreator()
  const intentId = await pay({
    creatorId: person.id,
    senderName: 'Bola',
    memo: 'well done',
    payerEmail: email,
  })
  return {
    email,
    intentId,
    person,
    answer: await status(intentId),
    tip: await listedTip(intentId, person.wallet),
  }
})

checkFields(check, 'an intent answers', async () => (await issued()).answer.body, {
  success: shape.is(true),
  intentId: shape.matches(/^fiatpay_/),
  status: shape.is('requires_action'),
  checkoutUrl: shape.matches(/^https?:\/\//),
  paymentInstructions: shape.isNull,
})
checkFields(check, 'an unpaid intent is listed', async () => (await issued()).tip, {
  status: shape.is('pending'),
  tokenSymbol: shape.is('FIAT'),
  sender: shape.is('Bola'),
  message: shape.is('well done'),
  isStable: shape.is(true),
  amount: shape.is(10),
  valueUsd: shape.is(10),
  sender_id: shape.isNull,
  recipient: shape.isWallet,
  recipient_id: shape.isUuid,
  timestamp: shape.isTimestamp,
  'fiatDetails.platformFee': shape.is(0.5),
  'fiatDetails.finalAmountUsd': shape.is(9.5),
  'fiatDetails.amountNgn': (value) => shape.isNumber(value) && Number(value) > 0,
})
checkFields(
  check,
  'the status of an unpaid intent answers',
  async () => (await status((await issued()).answer.body['intentId'])).body,
  {
    success: shape.is(true),
    intentId: shape.matches(/^fiatpay_/),
    status: shape.is('requires_action'),
    completedAt: shape.isNull,
  },
)
check('every status answer carries Cache-Control: no-store', async (t) => {
  const answers = [
    await status((await issued()).answer.body['intentId']),
    await status('fiatpay_unknown'),
    await call('GET', '/payments/fiat/status'),
  ]
  for (const { headers } of answers) t.is(headers.get('cache-control'), 'no-store')
})
for (const [title, creatorId] of Object.entries({
  'an unknown user id': '00000000-0000-4000-8000-000000000000',
  nothing: 'x',
}))
  check(`an intent for ${title} is not found`, async (t) => {
    assertError(t, await intent({ creatorId }), 404, 'Creator not found')
  })
check('an intent finds its creator by wallet', async (t) => {
  t.is((await intent({ creatorId: (await creator()).wallet })).status, 200)
})
for (const field of ['creatorId', 'amount'])
  check(`an intent without ${field} is refused`, async (t) => {
    const answer = await intent({ [field]: undefined })
    t.is(answer.status, 400)
    t.is(answer.body['success'], false)
  })
for (const [title, amount] of Object.entries<unknown>({ zero: 0, 'a negative amount': -5, text: 'ten' }))
  check(`an intent of ${title} is refused`, async (t) => {
    t.is((await intent({ amount })).status, 400)
  })
check('an explicit amountNgn is the charge', async (t) => {
  const person = await registerCreator()
  const { body } = await intent({ creatorId: person.id, amountNgn: 5000 })
  t.is(at(await listedTip(body['intentId'], person.wallet), 'fiatDetails', 'amountNgn'), 5000)
})
check('a sender without a name is Anonymous', async (t) => {
  const person = await registerCreator()
  const { body } = await intent({ creatorId: person.id })
  t.is((await listedTip(body['intentId'], person.wallet))?.['sender'], 'Anonymous')
})
check('an anonymous sender is Anonymous whatever name is given', async (t) => {
  const person = await registerCreator()
  const { body } = await intent({ creatorId: person.id, senderName: 'Bola', isAnonymous: true })
  t.is((await listedTip(body['intentId'], person.wallet))?.['sender'], 'Anonymous')
})
checkFields(
  check,
  'the rate answers',
  async () => (await call('GET', '/payments/fiat/rate?amount=10')).body,
  {
    success: shape.is(true),
    amountNgn: (value) => shape.isNumber(value) && Number(value) > 0,
  },
)
check('the amountNgn of the rate can be passed to an intent', async (t) => {
  const { body } = await call('GET', '/payments/fiat/rate?amount=10')
  const person = await registerCreator()
  const answer = await intent({ creatorId: person.id, amountNgn: body['amountNgn'] })
  t.is(
    at(await listedTip(answer.body['intentId'], person.wallet), 'fiatDetails', 'amountNgn'),
    body['amountNgn'],
  )
})

const instructed = once(async () =>
  intent({ creatorId: (await registerCreator({ fiatCollection: 'bank_transfer' })).id }),
)
checkFields(check, 'a creator with bank transfer answers', async () => (await instructed()).body, {
  checkoutUrl: shape.isNull,
  'paymentInstructions.bankName': shape.isText,
  'paymentInstructions.accountNumber': shape.isText,
  'paymentInstructions.accountName': shape.isText,
  'paymentInstructions.amount': (value) => shape.isNumber(value) && Number(value) > 0,
  'paymentInstructions.currency': shape.is('NGN'),
})
check('the reference of the instructions is the intent id', async (t) => {
  const { body } = await instructed()
  t.is(at(body, 'paymentInstructions', 'reference'), body['intentId'])
})

checkFields(
  checkWithStandIns,
  'the status of a paid intent answers',
  async () => (await settled()).answer.body,
  {
    status: shape.is('completed'),
    completedAt: shape.isTimestamp,
  },
)
checkFields(checkWithStandIns, 'a paid intent is listed', async () => (await settled()).tip, {
  amount: shape.is(10),
  isStable: shape.is(true),
  recipient: shape.isWallet,
  recipient_id: shape.isUuid,
  sender_id: shape.isNull,
  timestamp: shape.isTimestamp,
  status: shape.is('confirmed'),
  tokenSymbol: shape.is('FIAT'),
  sender: shape.is('Bola'),
  message: shape.is('well done'),
  valueUsd: shape.is(10),
  'fiatDetails.platformFee': shape.is(0.5),
  'fiatDetails.finalAmountUsd': shape.is(9.5),
})
checkWithStandIns('a paid tip is credited to the creator, less the fee of 5 %', async (t) => {
  const { person } = await settled()
  const { body } = await call('GET', '/creators/balance', { cookie: person.cookie })
  t.is(at(body, 'balance', 'availableUSDC'), 9.5)
})
checkWithStandIns('a payer who gave an e-mail has a receipt', async (t) => {
  const { email } = await settled()
  t.true((await mailsTo(email)).length > 0)
})
checkWithStandIns('an e-mail that paid can still register', async (t) => {
  const { email } = await settled()
  t.is(
    (await call('POST', '/auth/register', { body: { email, password: 'long enough', name: 'Bola' } })).status,
    200,
  )
})
checkWithStandIns('a payment that could not be completed is failed', async (t) => {
  const person = await registerCreator()
  const { body } = await intent({ creatorId: person.id })
  await control(`/dev/fiatpay/charges/${body['intentId']}`, { outcome: 'failed' })
  await until('the failure', 30, async () =>
    (await status(body['intentId'])).body['status'] === 'failed' ? true : undefined,
  )
  t.is((await listedTip(body['intentId'], person.wallet))?.['status'], 'failed')
})
checkWithStandIns('a paid tip is pushed to the stream of its creator and is an event', async (t) => {
  const person = await registerCreator()
  const key = await call('POST', '/creators/api-keys', { cookie: person.cookie, body: { label: 'naira' } })
  const intentId = await pay({ creatorId: person.id, senderName: 'Bola' })
  const { body } = await call('GET', `/sdk/events?creatorId=${person.id}`, {
    bearer: String(key.body['apiKey']),
  })
  t.like((body['events'] as Json[])[0], {
    eventId: intentId,
    txSignature: intentId,
    tokenSymbol: 'FIAT',
    amountUsdc: 0,
    sender: 'Bola',
  })
})

checkWithStandIns('without amountNgn the charge is the amount less the fee at the live rate', async (t) => {
  const person = await registerCreator()
  const rate = await call('GET', '/payments/fiat/rate?amount=10')
  const { body } = await intent({ creatorId: person.id })
  const tip = await listedTip(body['intentId'], person.wallet)
  t.is(at(tip, 'fiatDetails', 'amountNgn'), rate.body['amountNgn'])
})
checkWithStandIns('the e-mail of an anonymous payer is not used and not shown', async (t) => {
  const person = await registerCreator()
  const [hidden, named] = [freshEmail(), freshEmail()]
  await pay({ creatorId: person.id, senderName: 'Bola', payerEmail: hidden, isAnonymous: true })
  await pay({ creatorId: person.id, senderName: 'Bola', payerEmail: named })
  // Receipts are sent in order: the second one has arrived.
  await mailsTo(named)
  t.is((await mailsTo(hidden, 0)).length, 0)
  const { cookie, wallet } = person
  const reads = [
    await call('GET', '/creators/tips', { cookie }),
    await call('GET', `/chain/tips?address=${wallet}`),
  ]
  for (const { text } of reads) t.false(text.includes(hidden))
})
checkWithStandIns('completedAt of a paid intent stays the same', async (t) => {
  const { intentId, answer } = await settled()
  t.is((await status(intentId)).body['completedAt'], answer.body['completedAt'])
})
checkWithStandIns('a failed intent stays failed, and its completedAt is null', async (t) => {
  const { body } = await intent()
  await control(`/dev/fiatpay/charges/${body['intentId']}`, { outcome: 'failed' })
  const failed = await until('the failure', 30, async () => {
    const answer = await status(body['intentId'])
    return answer.body['status'] === 'failed' ? answer : undefined
  })
  t.is(failed.body['completedAt'], null)
})
