import { freshWallet, fundedSupporter, sol, unknownSignature, usdc, usdt } from './support/chain.js'
import { assertError, check, checkFields, checkWithStandIns, once } from './support/check.js'
import { registerCreator } from './support/people.js'
import { type Answer, at, call, type Json, until } from './support/server.js'
import * as shape from './support/shapes.js'

// POST /chain/tips/create, GET /chain/tips, and how a tip is confirmed.

const creator = once(() => registerCreator())
const supporter = once(fundedSupporter)

async function pay(inputTokenMint: string, amount: number, wallet?: string): Promise<string> {
  const { signAndSubmit, wallet: sourceWalletAddress } = await supporter()
  const body = { creatorId: wallet ?? (await creator()).wallet, amount, inputTokenMint, sourceWalletAddress }
  const intent = await call('POST', '/payments/intent', { body })
  return signAndSubmit(String(intent.body['transaction']))
}

async function record(txSignature: string, changes: Json = {}): Promise<Answer> {
  const creatorWallet = (await creator()).wallet
  const body = { creatorWallet, tipAmount: 500_000_000, senderWallet: freshWallet(), txSignature, ...changes }
  return call('POST', '/chain/tips/create', { body })
}

async function listed(address: string): Promise<Json[]> {
  const { body } = await call('GET', `/chain/tips?address=${address}`)
  return body['tips'] as Json[]
}

function listedTip(address: string, signature: string): Promise<Json> {
  return until('the tip in the list', 30, async () =>
    (await listed(address)).find((tip) => tip['signature'] === signature),
  )
}

const unpaid = once(async () => {
  const signature = unknownSignature()
  return { signature, first: await record(signature), second: await record(signature) }
})

const solTip = once(async () => {
  const signature = await pay(sol, 0.5)
  const { wallet } = await supporter()
  const answer = await record(signature, { senderWallet: wallet, message: 'for the album' })
  return { signature, answer, tip: await listedTip((await creator()).wallet, signature) }
})

const usdcTip = once(async () => {
  await solTip()
  const signature = await pay(usdc, 5)
  const { wallet } = await supporter()
  await record(signature, { senderWallet: wallet, tipAmount: 5_000_000, tokenSymbol: 'USDC' })
  return { signature, tip: await listedTip((await creator()).wallet, signature) }
})

const usdtTip = once(async () => {
  const signature = await pay(usdt, 3)
  const { wallet } = await supporter()
  await record(signature, { senderWallet: wallet, tipAmount: 3_000_000, tokenSymbol: 'USDT' })
  return listedTip((await creator()).wallet, signature)
})

checkFields(check, 'a new signature is recorded', async () => (await unpaid()).first.body, {
  success: shape.is(true),
  'tip.status': shape.is('pending'),
  'tip.recipientId': shape.isUuid,
  'tip.amount': shape.is(500_000_000),
  'tip.tokenSymbol': shape.is('SOL'),
  message: shape.is('Tip recorded successfully'),
})
check('a recorded tip is known by its signature', async (t) => {
  const { signature, first } = await unpaid()
  t.is(first.status, 200)
  t.is(at(first.body, 'tip', 'id'), signature)
})
check('the recipient of a registered wallet is its account', async (t) => {
  t.is(at((await unpaid()).first.body, 'tip', 'recipientId'), (await creator()).id)
})
checkFields(
  check,
  'a known signature answers the existing record',
  async () => (await unpaid()).second.body,
  {
    success: shape.is(true),
    'tip.status': shape.is('pending'),
    'tip.recipientId': shape.isAbsent,
    'tip.amount': shape.isAbsent,
    'tip.tokenSymbol': shape.isAbsent,
    message: shape.is('Tip already recorded'),
  },
)
check('a known signature answers the same id', async (t) => {
  const { signature, second } = await unpaid()
  t.is(second.status, 200)
  t.is(at(second.body, 'tip', 'id'), signature)
})
check('an unregistered wallet has no recipientId', async (t) => {
  const { body } = await record(unknownSignature(), { creatorWallet: freshWallet() })
  t.is(at(body, 'tip', 'recipientId'), undefined)
})
check('a tip of another token says its symbol', async (t) => {
  const { body } = await record(unknownSignature(), { tokenSymbol: 'USDC', tipAmount: 5_000_000 })
  t.is(at(body, 'tip', 'tokenSymbol'), 'USDC')
  t.is(at(body, 'tip', 'amount'), 5_000_000)
})
for (const field of ['creatorWallet', 'tipAmount', 'senderWallet', 'txSignature'])
  check(`a tip without ${field} is refused`, async (t) => {
    const { status, body } = await record(unknownSignature(), { [field]: undefined })
    t.is(status, 400)
    t.is(body['success'], false)
  })
check('a pending tip of the chain is not listed', async (t) => {
  const { signature } = await unpaid()
  t.false((await listed((await creator()).wallet)).some((tip) => tip['signature'] === signature))
})
check('a list without an address is refused', async (t) => {
  const { status, body } = await call('GET', '/chain/tips')
  t.is(status, 400)
  t.is(body['success'], false)
})
check('a list of an address without tips is empty', async (t) => {
  const { status, body } = await call('GET', `/chain/tips?address=${freshWallet()}`)
  t.is(status, 200)
  t.is(body['success'], true)
  t.deepEqual(body['tips'], [])
})

checkFields(checkWithStandIns, 'a confirmed SOL tip is listed', async () => (await solTip()).tip, {
  recipient: shape.isWallet,
  recipient_id: shape.isUuid,
  sender: shape.isWallet,
  sender_id: shape.isNull,
  amount: shape.is(0.5),
  tokenSymbol: shape.is('SOL'),
  message: shape.is('for the album'),
  timestamp: shape.isTimestamp,
  status: shape.is('confirmed'),
  valueUsd: (value) => shape.isNumber(value) && Number(value) > 0,
  isStable: shape.is(false),
  fiatDetails: shape.isNull,
})
checkFields(checkWithStandIns, 'a confirmed USDC tip is listed', async () => (await usdcTip()).tip, {
  amount: shape.is(5),
  tokenSymbol: shape.is('USDC'),
  valueUsd: shape.is(5),
  isStable: shape.is(true),
  message: shape.isNull,
  status: shape.is('confirmed'),
})
checkFields(checkWithStandIns, 'a confirmed USDT tip is listed', usdtTip, {
  amount: shape.is(3),
  tokenSymbol: shape.is('USDT'),
  valueUsd: shape.is(3),
  isStable: shape.is(true),
})
checkWithStandIns('a SOL tip is worth what SOL costs', async (t) => {
  const { tip } = await solTip()
  const { wallet } = await supporter()
  const body = {
    creatorId: (await creator()).id,
    amount: tip['amount'],
    inputTokenMint: sol,
    sourceWalletAddress: wallet,
  }
  const now = Number(at((await call('POST', '/payments/intent', { body })).body, 'quote', 'amountUsd'))
  t.true(Math.abs(Number(tip['valueUsd']) / now - 1) < 0.05, `${tip['valueUsd']} and ${now}`)
})
checkWithStandIns('recipient, recipient_id and sender are those of the chain', async (t) => {
  const { tip } = await solTip()
  const { wallet, id } = await creator()
  t.like(tip, { recipient: wallet, recipient_id: id, sender: (await supporter()).wallet })
})
checkWithStandIns('a confirmed tip is listed by the user id of its creator', async (t) => {
  const { signature } = await solTip()
  t.true((await listed((await creator()).id)).some((tip) => tip['signature'] === signature))
})
checkWithStandIns('a confirmed tip is listed by the wallet of its sender', async (t) => {
  const { signature } = await solTip()
  t.true((await listed((await supporter()).wallet)).some((tip) => tip['signature'] === signature))
})
checkWithStandIns('the list is ordered by time, newest first', async (t) => {
  await usdcTip()
  const times = (await listed((await creator()).wallet)).map((tip) => Date.parse(String(tip['timestamp'])))
  t.true(times.length >= 2)
  t.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  )
})
checkWithStandIns('a confirmed signature answers its status when recorded again', async (t) => {
  const { signature } = await solTip()
  const { body } = await record(signature)
  t.is(at(body, 'tip', 'status'), 'confirmed')
  t.is(body['message'], 'Tip already recorded')
})
checkWithStandIns('a tip of a failed transaction stays pending and is not listed', async (t) => {
  const signature = await (await supporter()).submitFailing()
  await record(signature, { senderWallet: (await supporter()).wallet })
  await usdcTip()
  const again = await record(signature, { senderWallet: (await supporter()).wallet })
  t.is(at(again.body, 'tip', 'status'), 'pending')
  t.false((await listed((await creator()).wallet)).some((tip) => tip['signature'] === signature))
})
checkWithStandIns('a hundred repetitions at once record one tip', async (t) => {
  const signature = unknownSignature()
  const answers = await Promise.all(Array.from({ length: 100 }, () => record(signature)))
  t.true(answers.every(({ status }) => status === 200))
  t.is(answers.filter(({ body }) => body['message'] === 'Tip recorded successfully').length, 1)
})
/** A creator with 51 confirmed tips, and an API key. */
const busy = once(async () => {
  const person = await registerCreator()
  const key = await call('POST', '/creators/api-keys', { cookie: person.cookie, body: { label: 'busy' } })
  const sender = await supporter()
  for (let round = 0; round < 3; round++) {
    const amounts = Array.from({ length: 17 }, (_, index) => 0.01 + (round * 17 + index) / 10_000)
    const signatures = await Promise.all(amounts.map((amount) => pay(sol, amount, person.wallet)))
    const claim = { creatorWallet: person.wallet, senderWallet: sender.wallet }
    await Promise.all(signatures.map((signature) => record(signature, claim)))
  }
  const tips = async () => (await listed(person.wallet)).length
  await until('50 tips', 60, async () => ((await tips()) >= 50 ? true : undefined))
  return { ...person, apiKey: String(key.body['apiKey']) }
})
checkWithStandIns('a list holds at most 50 tips', async (t) => {
  t.timeout(170_000)
  t.is((await listed((await busy()).wallet)).length, 50)
})
checkWithStandIns('a call answers at most 50 events, the newest first', async (t) => {
  t.timeout(170_000)
  const { id, apiKey } = await busy()
  const { body } = await call('GET', `/sdk/events?creatorId=${id}`, { bearer: apiKey })
  const times = (body['events'] as Json[]).map(({ timestamp }) => Date.parse(String(timestamp)))
  t.is(times.length, 50)
  t.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  )
})

check('errors carry success false', async (t) => {
  const answer = await call('GET', '/chain/tips')
  assertError(t, answer, 400, 'address is required')
})
