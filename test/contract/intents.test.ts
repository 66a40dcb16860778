import { VersionedTransaction } from '@solana/web3.js'
import { blockHeight, bonk, freshWallet, fundedSupporter, sol, usdc } from './support/chain.js'
import { check, checkFields, checkWithStandIns, once } from './support/check.js'
import { registerCreator } from './support/people.js'
import { type Answer, at, call, type Json, until } from './support/server.js'
import * as shape from './support/shapes.js'

// POST /payments/intent.

const creator = once(() => registerCreator())
const source = freshWallet()

async function intent(changes: Json = {}): Promise<Answer> {
  const creatorId = (await creator()).id
  const body = { creatorId, amount: 0.5, inputTokenMint: sol, sourceWalletAddress: source, ...changes }
  return call('POST', '/payments/intent', { body })
}

const direct = once(() => intent())

function transactionOf({ body }: Answer): VersionedTransaction {
  return VersionedTransaction.deserialize(Buffer.from(String(body['transaction']), 'base64'))
}

checkFields(check, 'an intent answers', async () => (await direct()).body, {
  success: shape.is(true),
  intentId: shape.matches(/^pi_/),
  status: shape.is('requires_action'),
  transaction: shape.matches(/^[A-Za-z0-9+/]+=*$/),
  'quote.outAmount': shape.matches(/^\d+$/),
  'quote.priceImpactPct': shape.is(0),
  'quote.amountUsd': (value) => shape.isNumber(value) && Number(value) > 0,
  'quote.tokenSymbol': shape.is('SOL'),
  executionMode: shape.is('sync'),
  provider: shape.is('direct-transfer'),
  lastValidBlockHeight: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  'settings.yieldEnabled': shape.is(false),
  'settings.gaslessEnabled': shape.is(false),
  'settings.autoConvertUsdc': shape.is(false),
})
check('the transaction is versioned', async (t) => {
  t.is(transactionOf(await direct()).version, 0)
})
check('the transaction is unsigned', async (t) => {
  t.true(transactionOf(await direct()).signatures.every((signature) => signature.every((byte) => byte === 0)))
})
check('the supporter pays the fee of the transaction', async (t) => {
  t.is(transactionOf(await direct()).message.staticAccountKeys[0]?.toBase58(), source)
})
check('the supporter alone signs', async (t) => {
  t.is(transactionOf(await direct()).message.header.numRequiredSignatures, 1)
})
check('the creator receives the amount less the platform fee of 2 %', async (t) => {
  t.is(at((await direct()).body, 'quote', 'outAmount'), '490000000')
})
check('two intents have two ids', async (t) => {
  const [one, other] = await Promise.all([intent(), intent()])
  t.not(one.body['intentId'], other.body['intentId'])
})
check('amountUsd overrides amount', async (t) => {
  const { body } = await intent({ amount: 400, amountUsd: 3, inputTokenMint: usdc })
  t.is(at(body, 'quote', 'amountUsd'), 3)
  t.is(at(body, 'quote', 'outAmount'), '2940000')
})
check('amountUsd serves without amount', async (t) => {
  const { status, body } = await intent({ amount: undefined, amountUsd: 3, inputTokenMint: usdc })
  t.is(status, 200)
  t.is(at(body, 'quote', 'amountUsd'), 3)
})
check('a USD amount is converted at the live price', async (t) => {
  const bySol = await intent({ amount: 1 })
  const price = Number(at(bySol.body, 'quote', 'amountUsd'))
  const byUsd = await intent({ amount: undefined, amountUsd: price })
  const ratio = Number(at(byUsd.body, 'quote', 'outAmount')) / 980_000_000
  t.true(Math.abs(ratio - 1) < 0.02, `${ratio}`)
})
check('tokenSymbol is for display and does not change the route', async (t) => {
  const { body } = await intent({ tokenSymbol: 'BONK' })
  t.is(at(body, 'quote', 'tokenSymbol'), 'BONK')
  t.is(body['provider'], 'direct-transfer')
})
check('without tokenSymbol the symbol of the mint stands', async (t) => {
  const { body } = await intent({ inputTokenMint: usdc, amount: 5 })
  t.is(at(body, 'quote', 'tokenSymbol'), 'USDC')
})
check('a creator is found by wallet', async (t) => {
  t.is((await intent({ creatorId: (await creator()).wallet })).status, 200)
})
for (const [title, creatorId] of Object.entries({
  'an unknown user id': '00000000-0000-4000-8000-000000000000',
  'an unknown handle': '@nobody_has_this_handle_here',
  'text that is nothing': 'nothing at all',
}))
  check(`${title} is not found`, async (t) => {
    const { status, body } = await intent({ creatorId })
    t.is(status, 404)
    t.is(body['success'], false)
  })
for (const field of ['creatorId', 'amount', 'inputTokenMint', 'sourceWalletAddress'])
  check(`an intent without ${field} is refused`, async (t) => {
    const { status, body } = await intent({ [field]: undefined })
    t.is(status, 400)
    t.is(body['success'], false)
  })
for (const [title, amount] of Object.entries<unknown>({
  zero: 0,
  'a negative number': -1,
  text: '1',
  'less than a base unit': 1e-12,
}))
  check(`${title} is no amount`, async (t) => {
    t.is((await intent({ amount })).status, 400)
  })
check('a mint that is none is refused', async (t) => {
  t.is((await intent({ inputTokenMint: 'not a mint' })).status, 400)
})
check('a wallet that is none is refused', async (t) => {
  t.is((await intent({ sourceWalletAddress: 'not a wallet' })).status, 400)
})
check('the answer to an Idempotency-Key is the same answer', async (t) => {
  const body = {
    creatorId: (await creator()).id,
    amount: 0.5,
    inputTokenMint: sol,
    sourceWalletAddress: source,
  }
  const headers = { 'idempotency-key': `contract-${crypto.randomUUID()}` }
  const [one, other] = [
    await call('POST', '/payments/intent', { body, headers }),
    await call('POST', '/payments/intent', { body, headers }),
  ]
  t.is(one.body['intentId'], other.body['intentId'])
})

const converting = once(() => registerCreator({ autoConvertUsdc: true }))
const swap = once(async () => {
  const { wallet } = await fundedSupporter()
  return intent({ creatorId: (await converting()).id, amount: 0.1, sourceWalletAddress: wallet })
})
checkFields(checkWithStandIns, 'a swap answers', async () => (await swap()).body, {
  status: shape.is('requires_action'),
  provider: shape.matches(/^aggregator-(ultra|v6)$/),
  'quote.priceImpactPct': shape.isNumber,
  'quote.outAmount': shape.matches(/^\d+$/),
  'settings.autoConvertUsdc': shape.is(true),
  lastValidBlockHeight: shape.isNumber,
})
checkWithStandIns('the transaction of a swap is versioned and unsigned', async (t) => {
  const transaction = transactionOf(await swap())
  t.is(transaction.version, 0)
  t.true(transaction.signatures.every((signature) => signature.every((byte) => byte === 0)))
})
checkWithStandIns('yield routing swaps to a liquid staking token', async (t) => {
  const { wallet } = await fundedSupporter()
  const { id } = await registerCreator({ yieldEnabled: true })
  const { body } = await intent({ creatorId: id, amount: 0.1, sourceWalletAddress: wallet })
  t.regex(String(body['provider']), /^aggregator-/)
  t.is(at(body, 'settings', 'yieldEnabled'), true)
})
checkWithStandIns('the tip of yield routing arrives as a liquid staking token', async (t) => {
  const supporter = await fundedSupporter()
  const { id, wallet } = await registerCreator({ yieldEnabled: true })
  const { body } = await intent({ creatorId: id, amount: 0.1, sourceWalletAddress: supporter.wallet })
  const txSignature = await supporter.signAndSubmit(String(body['transaction']))
  const claim = {
    creatorWallet: wallet,
    tipAmount: 100_000_000,
    senderWallet: supporter.wallet,
    txSignature,
  }
  await call('POST', '/chain/tips/create', { body: claim })
  const tip = await until('the tip', 30, async () => {
    const list = await call('GET', `/chain/tips?address=${wallet}`)
    return (list.body['tips'] as Json[]).find(({ signature }) => signature === txSignature)
  })
  t.is(tip['status'], 'confirmed')
  t.false(['SOL', 'USDC', 'USDT', 'BONK'].includes(String(tip['tokenSymbol'])), String(tip['tokenSymbol']))
})
checkWithStandIns('the transaction is valid for some blocks from now', async (t) => {
  const { body } = await intent()
  const left = Number(body['lastValidBlockHeight']) - (await blockHeight())
  t.true(left > 0 && left <= 300, String(left))
})
checkWithStandIns('a gasless creator takes the async mode', async (t) => {
  const { id } = await registerCreator({ gaslessEnabled: true })
  const { body } = await intent({ creatorId: id })
  t.is(body['executionMode'], 'async')
  t.is(at(body, 'settings', 'gaslessEnabled'), true)
})
checkWithStandIns('a token the creator does not take is swapped', async (t) => {
  const { wallet } = await fundedSupporter()
  const { id } = await registerCreator({ acceptedTokens: ['USDC'] })
  const { body } = await intent({ creatorId: id, amount: 0.1, sourceWalletAddress: wallet })
  t.regex(String(body['provider']), /^aggregator-/)
})
checkWithStandIns('BONK goes directly to a creator who takes it', async (t) => {
  const { id } = await registerCreator({ acceptedTokens: ['BONK'] })
  const { body } = await intent({ creatorId: id, inputTokenMint: bonk, amount: 100_000 })
  t.is(body['provider'], 'direct-transfer')
})
checkWithStandIns('the service does not submit the transaction: unsigned, it never lands', async (t) => {
  const { id, wallet } = await registerCreator()
  await intent({ creatorId: id })
  const { body } = await call('GET', `/chain/tips?address=${wallet}`)
  t.deepEqual(body['tips'], [])
})
checkWithStandIns('a signed and submitted transaction pays the creator what was quoted', async (t) => {
  const supporter = await fundedSupporter()
  const { id, wallet } = await registerCreator()
  const { body } = await intent({
    creatorId: id,
    amount: 5,
    inputTokenMint: usdc,
    sourceWalletAddress: supporter.wallet,
  })
  const txSignature = await supporter.signAndSubmit(String(body['transaction']))
  const claim = {
    creatorWallet: wallet,
    tipAmount: 5_000_000,
    senderWallet: supporter.wallet,
    txSignature,
    tokenSymbol: 'USDC',
  }
  await call('POST', '/chain/tips/create', { body: claim })
  const tip = await until('the tip', 30, async () => {
    const list = await call('GET', `/chain/tips?address=${wallet}`)
    return (list.body['tips'] as Json[]).find(({ signature }) => signature === txSignature)
  })
  t.is(tip['status'], 'confirmed')
})
