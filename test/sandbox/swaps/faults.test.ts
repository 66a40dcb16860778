import { type Keypair, PublicKey } from '@solana/web3.js'
import test from 'ava'
import { engineWallet } from '../../../scripts/sandbox/aggregator/liquidity.js'
import { type Sandbox, startSandbox } from '../../../scripts/sandbox/server.js'
import { connect, postJson } from '../chain-client.js'
import {
  airdrop,
  createSupporter,
  decode,
  executeOrder,
  readBalance,
  readTokenBalance,
  requestOrder,
  requestQuote,
  requestSwap,
  signAndLand,
  tokenAccount,
  unusedKey,
} from './client.js'

let sandbox: Sandbox
let supporter: Keypair
test.before(async () => {
  sandbox = await startSandbox({ port: 0, slotMs: 60 })
  supporter = await createSupporter(sandbox, 'USDC')
})
test.after.always(() => sandbox.close())
test.afterEach.always(async () => {
  await postJson(`${sandbox.url}/dev/reset`, { what: ['aggregator'] })
})

const amount = '10000000'
const control = (wanted: unknown) => postJson(`${sandbox.url}/dev/aggregator`, wanted)

/** Orders a swap of SOL to USDC, from the supporter to a new creator. */
async function ordered(input = 'SOL', output = 'USDC') {
  const creator = unusedKey()
  const parties = { taker: supporter.publicKey.toBase58(), receiver: creator.toBase58() }
  return { creator, ...(await requestOrder(sandbox, input, output, { amount, ...parties })) }
}

/** Requests a quote of SOL to USDC and its swap, to a creator whose account exists. */
async function swapped(maxAccounts = '64') {
  const creator = unusedKey()
  await airdrop(sandbox, creator, 'USDC', '1')
  const quoted = (await requestQuote(sandbox, 'SOL', 'USDC', { amount, platformFeeBps: '0', maxAccounts }))
    .body
  const { body } = await requestSwap(sandbox, quoted, {
    userPublicKey: supporter.publicKey.toBase58(),
    destinationTokenAccount: tokenAccount(creator, 'USDC').toBase58(),
  })
  return { creator, quoted, body }
}

const orderUrl = () => `${sandbox.url}/ultra/v1/order?inputMint=x`
const quoteUrl = () => `${sandbox.url}/swap/v1/quote?inputMint=x`

test.serial('engines answer 503 when down, 429 when rate-limited and a page in mode `garbage`', async (t) => {
  const seen = async (mode: string) => {
    await control({ ultra: mode, v6: mode })
    const answers = await Promise.all([orderUrl(), quoteUrl()].map((url) => fetch(url)))
    const [one, other] = await Promise.all(answers.map((answer) => answer.text()))
    t.is(one, other)
    return { statuses: answers.map(({ status }) => status), text: one, headers: answers[0]?.headers }
  }
  t.deepEqual((await seen('down')).statuses, [503, 503])
  const garbage = await seen('garbage')
  t.deepEqual(garbage.statuses, [200, 200])
  t.regex(garbage.text ?? '', /^<!DOCTYPE html>/)
  const limited = await seen('rate-limited')
  t.deepEqual(limited.statuses, [429, 429])
  t.deepEqual(JSON.parse(limited.text ?? ''), { code: 429, message: '[API Gateway] Too many requests' })
  t.is(limited.headers?.get('x-ratelimit-remaining'), '0')
  t.regex(limited.headers?.get('x-ratelimit-reset') ?? '', /^\d{10}$/)
})

test.serial('a missing route is answered with each engine’s own error', async (t) => {
  await control({ ultra: 'no-route', v6: 'no-route' })
  const { status, body } = await ordered()
  t.deepEqual({ status, body }, { status: 400, body: { error: 'Failed to get quotes' } })
  t.like(await requestQuote(sandbox, 'SOL', 'USDC', { amount }), {
    status: 400,
    body: { errorCode: 'COULD_NOT_FIND_ANY_ROUTE' },
  })
})

test.serial('one engine can fail while the other works, and recover', async (t) => {
  await control({ ultra: 'down' })
  t.is((await fetch(orderUrl())).status, 503)
  t.is((await requestQuote(sandbox, 'SOL', 'USDC', { amount })).status, 200)
  await control({ v6: 'down' })
  t.is((await fetch(orderUrl())).status, 503)
  t.is((await fetch(quoteUrl())).status, 503)
  await control({ ultra: 'ok', v6: 'ok' })
  t.is((await ordered()).status, 200)
  t.is((await requestQuote(sandbox, 'SOL', 'USDC', { amount })).status, 200)
})

test.serial(
  'a market maker’s order needs the maker’s signature too, so only the engine can land it',
  async (t) => {
    await control({ ultra: 'second-signer' })
    const { creator, ...answer } = await ordered()
    const { message } = decode(answer.body.transaction)
    t.is(message.header.numRequiredSignatures, 2)
    t.is(message.staticAccountKeys[0]?.toBase58(), answer.body.maker)
    t.is(answer.body.signatureFeePayer, answer.body.maker)
    t.like(answer.body, { router: 'jupiterz', swapType: 'rfq', feeBps: 200, gasless: true })
    t.regex(answer.body.expireAt, /^\d{10}$/)
    await t.throwsAsync(signAndLand(sandbox, answer.body.transaction, supporter), { message: /signature/i })
    t.is((await executeOrder(sandbox, answer, supporter)).body.status, 'Success')
    t.is(await readBalance(connect(sandbox), creator, 'USDC'), BigInt(answer.body.outAmount))
    await control({ v6: 'second-signer' })
    t.is(decode((await swapped()).body.swapTransaction).message.header.numRequiredSignatures, 2)
  },
)

test.serial('an engine can drop the platform’s fee, and only the rate in the answer shows it', async (t) => {
  await control({ ultra: 'no-fee', v6: 'no-fee' })
  const partner = tokenAccount(new PublicKey(sandbox.aggregator.referralAccount), 'SOL')
  const before = await readTokenBalance(connect(sandbox), partner)
  const { body } = await ordered()
  t.is(body.feeBps, 2)
  t.is(body.platformFee.feeBps, 2)
  await signAndLand(sandbox, body.transaction, supporter)
  t.is(await readTokenBalance(connect(sandbox), partner), before)
  t.is((await requestQuote(sandbox, 'SOL', 'USDC', { amount })).body.platformFee, null)
})

test.serial('an answer with an error code has an empty transaction', async (t) => {
  await control({ ultra: 'error-code' })
  const { status, body } = await ordered()
  t.is(status, 200)
  t.like(body, { transaction: '', errorCode: 1, errorMessage: 'Insufficient funds', router: 'metis' })
})

test.serial(
  'an oversized transaction does not fit into a packet, and with fewer accounts it fits',
  async (t) => {
    const size = (transaction: string) => Buffer.from(transaction, 'base64').length
    await control({ ultra: 'oversized', v6: 'oversized' })
    t.true(size((await ordered()).body.transaction) > 1232)
    const large = await swapped()
    t.is(large.quoted.routePlan.length, 5)
    t.true(size(large.body.swapTransaction) > 1232)
    // web3.js and the chain refuse a transaction of this size.
    await t.throwsAsync(signAndLand(sandbox, large.body.swapTransaction, supporter))
    t.true(size((await swapped('56')).body.swapTransaction) > 1232)
    const { creator, quoted, body } = await swapped('48')
    t.true(size(body.swapTransaction) <= 1232)
    await signAndLand(sandbox, body.swapTransaction, supporter)
    t.is(await readBalance(connect(sandbox), creator, 'USDC'), 1_000_000n + BigInt(quoted.outAmount))
  },
)

test.serial('a dishonest engine’s transaction pays less than promised, or pays another wallet', async (t) => {
  const connection = connect(sandbox)
  await control({ ultra: 'pays-less', v6: 'pays-less' })
  const less = await ordered()
  await signAndLand(sandbox, less.body.transaction, supporter)
  const promised = BigInt(less.body.outAmount)
  t.is(await readBalance(connection, less.creator, 'USDC'), promised - promised / 10n - 1n)
  const lessV6 = await swapped()
  await signAndLand(sandbox, lessV6.body.swapTransaction, supporter)
  t.true(
    (await readBalance(connection, lessV6.creator, 'USDC')) - 1_000_000n < BigInt(lessV6.quoted.outAmount),
  )

  await control({ ultra: 'pays-another' })
  const engine = engineWallet(sandbox.chain)
  const before = await readBalance(connection, engine, 'USDC')
  const another = await ordered()
  await signAndLand(sandbox, another.body.transaction, supporter)
  t.is(await readBalance(connection, another.creator, 'USDC'), 0n)
  t.is((await readBalance(connection, engine, 'USDC')) - before, BigInt(another.body.outAmount))
  const native = await ordered('USDC', 'SOL')
  await signAndLand(sandbox, native.body.transaction, supporter)
  t.is(await readBalance(connection, native.creator, 'SOL'), 0n)
})

test.serial('a dishonest engine adds a payment, or a call of an unknown program', async (t) => {
  const connection = connect(sandbox)
  await control({ ultra: 'batches', v6: 'unknown-program' })
  const engine = engineWallet(sandbox.chain)
  const before = await readBalance(connection, engine, 'SOL')
  const { creator, body } = await ordered()
  await signAndLand(sandbox, body.transaction, supporter)
  t.is(await readBalance(connection, creator, 'USDC'), BigInt(body.outAmount))
  t.is((await readBalance(connection, engine, 'SOL')) - before, 1_000_000n)
  const { message } = decode((await swapped()).body.swapTransaction)
  const unknown = sandbox.chain.keypair('unknown program').publicKey
  const programs = message.compiledInstructions.map((one) => message.staticAccountKeys[one.programIdIndex])
  t.true(programs.some((program) => program?.equals(unknown)))
})

test.serial('the block height is absent, a number or a text', async (t) => {
  const heights = async (height: string) => {
    await control({ ultra: { height }, v6: { height } })
    const { body } = await ordered()
    return [body.lastValidBlockHeight, (await swapped()).body.lastValidBlockHeight].map(
      (value) => typeof value,
    )
  }
  t.deepEqual(await heights('none'), ['undefined', 'undefined'])
  t.deepEqual(await heights('text'), ['string', 'string'])
  t.deepEqual(await heights('number'), ['number', 'number'])
})

test.serial(
  'a fault can delay answers, apply to one endpoint, or last for a number of requests',
  async (t) => {
    await control({ v6: { mode: 'down', endpoint: 'swap' } })
    const quoted = await requestQuote(sandbox, 'SOL', 'USDC', { amount })
    t.is(quoted.status, 200)
    const refused = await fetch(`${sandbox.url}/swap/v1/swap`, { method: 'POST', body: '{}' })
    t.is(refused.status, 503)
    sandbox.aggregator.set({ ultra: { mode: 'down', times: 2 }, v6: { mode: 'ok', delayMs: 60 } })
    const statuses: number[] = []
    for (let request = 0; request < 3; request++) statuses.push((await fetch(orderUrl())).status)
    t.deepEqual(statuses, [503, 503, 400])
    const started = performance.now()
    await requestQuote(sandbox, 'SOL', 'USDC', { amount })
    t.true(performance.now() - started >= 55)
  },
)

test.serial('the controls show the active faults and refuse unknown ones', async (t) => {
  await control({ v6: { mode: 'down', times: 3 } })
  const active = await fetch(`${sandbox.url}/dev/aggregator`)
  t.deepEqual(await active.json(), {
    ultra: { mode: 'ok' },
    v6: { mode: 'down', times: 3 },
    referralAccount: sandbox.aggregator.referralAccount,
  })
  for (const wanted of [{ ultra: 'asleep' }, { v6: 'error-code' }, { v5: 'ok' }, { ultra: { times: 0 } }, []])
    t.is((await control(wanted)).status, 400)
})

test.serial('requests are counted by endpoint', async (t) => {
  sandbox.aggregator.calls.reset()
  await swapped()
  await ordered()
  t.deepEqual(sandbox.aggregator.calls.all(), { quote: 1, swap: 1, order: 1 })
})
