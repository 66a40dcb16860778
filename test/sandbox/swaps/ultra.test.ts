import { Keypair, PublicKey } from '@solana/web3.js'
import test from 'ava'
import { engineWallet } from '../../../scripts/sandbox/aggregator/liquidity.js'
import { type Sandbox, startSandbox } from '../../../scripts/sandbox/server.js'
import { connect, fundedKeypair, postJson } from '../chain-client.js'
import {
  accountRent,
  airdrop,
  createSupporter,
  decode,
  executeOrder,
  mintOf,
  networkFee,
  readBalance,
  readTokenBalance,
  requestOrder,
  signAndLand,
  tokenAccount,
  unusedKey,
} from './client.js'

let sandbox: Sandbox
test.before(async () => {
  sandbox = await startSandbox({ port: 0, slotMs: 60 })
})
test.after.always(() => sandbox.close())

// Input, output, base units, and the fee's token: SOL before stablecoins before liquid staking tokens before the rest.
const pairs = [
  ['SOL', 'USDC', 100_000_000n, 'SOL'],
  ['USDC', 'SOL', 10_000_000n, 'SOL'],
  ['BONK', 'USDT', 50_000_000_000n, 'USDT'],
] as const

for (const [input, output, amount, feeToken] of pairs) {
  test.serial(`${input} to ${output}: the creator gets the quoted amount, and the fee is 2 %`, async (t) => {
    const connection = connect(sandbox)
    const supporter = await createSupporter(sandbox, input, '1000000')
    const creator = unusedKey()
    const partner = new PublicKey(sandbox.aggregator.referralAccount)
    const feeAccounts = [partner, engineWallet(sandbox.chain)].map((owner) => tokenAccount(owner, feeToken))
    const feesBefore = await Promise.all(feeAccounts.map((account) => readTokenBalance(connection, account)))
    const before = await readBalance(connection, supporter.publicKey, input)

    const { status, body } = await requestOrder(sandbox, input, output, {
      amount: String(amount),
      taker: supporter.publicKey.toBase58(),
      receiver: creator.toBase58(),
    })
    t.is(status, 200)
    t.is(body.feeBps, 200)
    t.is(body.feeMint, mintOf(feeToken))
    const decoded = decode(body.transaction)
    const bytes = Buffer.from(body.transaction, 'base64')
    t.true(bytes.equals(decoded.serialize()), 'the bytes are as web3.js serializes them')
    t.true(bytes.length <= 1232 - 200, 'there is room for what wallets add')
    const { header, staticAccountKeys } = decoded.message
    t.is(header.numRequiredSignatures, 1)
    t.true(staticAccountKeys[0]?.equals(supporter.publicKey))
    await signAndLand(sandbox, body.transaction, supporter)

    t.is(await readBalance(connection, creator, output), BigInt(body.outAmount))
    const spent = before - (await readBalance(connection, supporter.publicKey, input))
    const opened = output === 'SOL' ? 0 : accountRent
    t.is(spent, input === 'SOL' ? amount + BigInt(networkFee + opened) : amount)
    const fees = await Promise.all(feeAccounts.map((account) => readTokenBalance(connection, account)))
    const [ours = 0n, theirs = 0n] = fees.map((fee, index) => fee - (feesBefore[index] ?? 0n))
    const gross = feeToken === input ? amount : BigInt(body.outAmount) + ours + theirs
    t.is(ours + theirs, BigInt(body.platformFee.amount))
    t.is(ours + theirs, gross / 50n)
    t.is(theirs, (ours + theirs) / 5n)
  })
}

test('the engine executes an order once, and a repeated request gets the same answer', async (t) => {
  const supporter = await createSupporter(sandbox)
  const creator = unusedKey()
  const ordered = await requestOrder(sandbox, 'SOL', 'USDC', {
    amount: '20000000',
    taker: supporter.publicKey.toBase58(),
    receiver: creator.toBase58(),
  })
  const [first, second] = [
    await executeOrder(sandbox, ordered, supporter),
    await executeOrder(sandbox, ordered, supporter),
  ]
  t.is(first.body.status, 'Success')
  t.is(first.body.code, 0)
  t.is(first.body.outputAmountResult, ordered.body.outAmount)
  t.deepEqual(second.body, first.body)
  t.is(await readBalance(connect(sandbox), creator, 'USDC'), BigInt(ordered.body.outAmount))
})

test('a request that is not the signed order is refused with its error code', async (t) => {
  const supporter = await createSupporter(sandbox)
  const taker = supporter.publicKey.toBase58()
  const [ordered, other] = await Promise.all(
    ['20000000', '30000000'].map((amount) => requestOrder(sandbox, 'SOL', 'USDC', { amount, taker })),
  )
  const { requestId, transaction: unsigned } = ordered?.body ?? {}
  const signedOther = decode(other?.body.transaction)
  signedOther.sign([supporter])
  const forged = decode(unsigned)
  forged.signatures = [new Uint8Array(64).fill(7)]
  const base64 = (transaction: typeof forged) => Buffer.from(transaction.serialize()).toString('base64')
  const refusals = [
    [{ signedTransaction: unsigned }, -1],
    [{ requestId }, -2],
    [{ requestId: 'unknown', signedTransaction: unsigned }, -1],
    [{ requestId, signedTransaction: 'AAAA' }, -2],
    [{ requestId, signedTransaction: base64(forged) }, -2],
    [{ requestId, signedTransaction: base64(signedOther) }, -3],
    [{ requestId, signedTransaction: unsigned }, -2],
  ] as const
  for (const [body, code] of refusals) {
    const answer = await postJson(`${sandbox.url}/ultra/v1/execute`, body)
    t.like(answer, { status: 400, body: { code } })
  }
})

test('a taker who cannot pay gets a price, an error code and an empty transaction', async (t) => {
  const poor = await fundedKeypair(connect(sandbox), 3_000_000)
  const taker = poor.publicKey.toBase58()
  const noMoney = await requestOrder(sandbox, 'SOL', 'USDC', { amount: '1000000000', taker })
  t.like(noMoney.body, { transaction: '', errorCode: 1, errorMessage: 'Insufficient funds' })
  t.truthy(noMoney.body.outAmount)
  const noGas = Keypair.generate()
  await airdrop(sandbox, noGas.publicKey, 'USDC', '10')
  const query = { amount: '1000000', taker: noGas.publicKey.toBase58() }
  t.like((await requestOrder(sandbox, 'USDC', 'SOL', query)).body, { transaction: '', errorCode: 2 })
})

test('a partner without an account for the fee’s token gets no fee, and only the rate shows it', async (t) => {
  const supporter = await createSupporter(sandbox)
  const partner = unusedKey()
  const query = {
    amount: '100000000',
    taker: supporter.publicKey.toBase58(),
    referralAccount: partner.toBase58(),
  }
  const dropped = await requestOrder(sandbox, 'SOL', 'USDC', query)
  t.is(dropped.status, 200)
  t.is(dropped.body.feeBps, 10)
  await signAndLand(sandbox, dropped.body.transaction, supporter)
  await airdrop(sandbox, partner, mintOf('USDC'), '1')
  t.is((await requestOrder(sandbox, 'SOL', 'USDC', query)).body.feeBps, 10, 'the fee is taken in SOL')
  t.is((await requestOrder(sandbox, 'BONK', 'USDC', { ...query, amount: '50000000000' })).body.feeBps, 200)
})

test('pairs without a route and invalid parameters are refused', async (t) => {
  const noQuotes = { status: 400, body: { error: 'Failed to get quotes' } }
  const amount = '1000000'
  t.deepEqual(await requestOrder(sandbox, unusedKey().toBase58(), 'USDC', { amount }), noQuotes)
  t.deepEqual(await requestOrder(sandbox, 'USDC', 'USDC', { amount }), noQuotes)
  t.deepEqual(await requestOrder(sandbox, 'BONK', 'SOL', { amount: '1' }), noQuotes, 'the output would be 0')
  t.deepEqual(
    await requestOrder(sandbox, 'SOL', 'USDC', { amount: '18000000000000000000' }),
    noQuotes,
    'more than the pool holds',
  )
  t.deepEqual(await requestOrder(sandbox, 'SOL', 'USDC', { amount, excludeRouters: 'metis' }), noQuotes)
  t.is(
    (await requestOrder(sandbox, 'SOL', 'USDC', { amount, excludeRouters: 'jupiterz' })).body.mode,
    'manual',
  )
  for (const query of [
    { amount: '-1' },
    { amount: '1.5' },
    { amount: '18446744073709551616' },
    { amount, referralFee: '49' },
    { amount, referralFee: '256' },
    { amount, referralAccount: '' },
    { amount, taker: 'nobody' },
    {},
  ]) {
    const refused = await requestOrder(sandbox, 'SOL', 'USDC', query as Record<string, string>)
    t.is(refused.status, 400)
    t.regex(refused.body.error, /^Invalid query parameter/)
  }
})
