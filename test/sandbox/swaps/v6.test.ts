import type { PublicKey } from '@solana/web3.js'
import test from 'ava'
import { type Sandbox, startSandbox } from '../../../scripts/sandbox/server.js'
import { connect } from '../chain-client.js'
import {
  accountRent,
  airdrop,
  createSupporter,
  decode,
  getJson,
  mintOf,
  networkFee,
  readBalance,
  readTokenBalance,
  requestQuote,
  requestSwap,
  signAndLand,
  tokenAccount,
  unusedKey,
} from './client.js'

let sandbox: Sandbox
test.before(async () => {
  sandbox = await startSandbox({ port: 0, slotMs: 60 })
})
test.after.always(() => sandbox.close())

/** Creates a wallet with an open account of a token. */
async function withAccount(token: string): Promise<{ wallet: PublicKey; account: PublicKey }> {
  const wallet = unusedKey()
  await airdrop(sandbox, wallet, mintOf(token), '1')
  return { wallet, account: tokenAccount(wallet, token) }
}

const pairs = [
  ['SOL', 'USDC', '100000000'],
  ['USDC', 'BONK', '10000000'],
] as const

for (const [input, output, amount] of pairs) {
  test(`${input} to ${output}: the creator gets the quoted amount, and the fee account gets 2 %`, async (t) => {
    const connection = connect(sandbox)
    const supporter = await createSupporter(sandbox, input, '10000000')
    const [creator, treasury] = await Promise.all([withAccount(output), withAccount(output)])
    const before = await readBalance(connection, supporter.publicKey, input)
    const [creatorBefore, feeBefore] = await Promise.all(
      [creator, treasury].map(({ account }) => readTokenBalance(connection, account)),
    )
    const quoted = (await requestQuote(sandbox, input, output, { amount })).body
    const { body } = await requestSwap(sandbox, quoted, {
      userPublicKey: supporter.publicKey.toBase58(),
      destinationTokenAccount: creator.account.toBase58(),
      feeAccount: treasury.account.toBase58(),
    })
    t.is(decode(body.swapTransaction).message.header.numRequiredSignatures, 1)
    await signAndLand(sandbox, body.swapTransaction, supporter)
    const received = (await readTokenBalance(connection, creator.account)) - (creatorBefore ?? 0n)
    const fee = (await readTokenBalance(connection, treasury.account)) - (feeBefore ?? 0n)
    t.is(received, BigInt(quoted.outAmount))
    t.is(fee, BigInt(quoted.platformFee.amount))
    t.is(fee, (received + fee) / 50n)
    const spent = before - (await readBalance(connection, supporter.publicKey, input))
    t.is(spent, BigInt(amount) + (input === 'SOL' ? BigInt(networkFee) : 0n))
  })
}

test('without a destination the user gets the output: native SOL, or tokens in a newly opened account', async (t) => {
  const connection = connect(sandbox)
  const supporter = await createSupporter(sandbox, 'USDC')
  const userPublicKey = supporter.publicKey.toBase58()
  const before = await readBalance(connection, supporter.publicKey, 'SOL')
  const sol = (await requestQuote(sandbox, 'USDC', 'SOL', { amount: '10000000', platformFeeBps: '0' })).body
  t.is(sol.platformFee, null)
  await signAndLand(
    sandbox,
    (await requestSwap(sandbox, sol, { userPublicKey })).body.swapTransaction,
    supporter,
  )
  const after = await readBalance(connection, supporter.publicKey, 'SOL')
  t.is(after - before, BigInt(sol.outAmount) - BigInt(networkFee))
  const bonk = (await requestQuote(sandbox, 'USDC', 'BONK', { amount: '10000000', platformFeeBps: '0' })).body
  await signAndLand(
    sandbox,
    (await requestSwap(sandbox, bonk, { userPublicKey })).body.swapTransaction,
    supporter,
  )
  t.is(await readBalance(connection, supporter.publicKey, 'BONK'), BigInt(bonk.outAmount))
  t.is(after - (await readBalance(connection, supporter.publicKey, 'SOL')), BigInt(networkFee + accountRent))
})

test('swaps with contradictory parts are refused', async (t) => {
  const userPublicKey = unusedKey().toBase58()
  const [usdc, sol] = [
    (await requestQuote(sandbox, 'SOL', 'USDC', { amount: '10000000' })).body,
    (await requestQuote(sandbox, 'USDC', 'SOL', { amount: '10000000', platformFeeBps: '0' })).body,
  ]
  const someone = unusedKey().toBase58()
  for (const [quoteResponse, body] of [
    [usdc, {}],
    [usdc, { feeAccount: 'nowhere' }],
    [{ ...sol, inAmount: '-5' }, {}],
    [{ ...sol, outputMint: someone }, {}],
    [{ ...sol, routePlan: new Array(100).fill(sol.routePlan[0]) }, {}],
    [undefined, {}],
    [null, {}],
  ] as const) {
    const refused = await requestSwap(sandbox, quoteResponse, { userPublicKey, ...body })
    t.is(refused.status, 400)
    t.is(typeof refused.body.error, 'string')
  }
})

test('pairs that cannot be quoted are refused with the engine’s errors', async (t) => {
  const token = unusedKey().toBase58()
  const refused = async (input: string, output: string, query: Record<string, string>) => {
    const { status, body } = await requestQuote(sandbox, input, output, query)
    t.is(status, 400)
    return body
  }
  const amount = '1000000'
  t.deepEqual(await refused(token, 'USDC', { amount }), {
    error: `The token ${token} is not tradable`,
    errorCode: 'TOKEN_NOT_TRADABLE',
  })
  t.deepEqual(await refused('USDC', 'USDC', { amount }), {
    error: 'Input and output mints are not allowed to be equal',
    errorCode: 'CIRCULAR_ARBITRAGE_IS_DISABLED',
  })
  t.deepEqual(await refused('BONK', 'SOL', { amount: '1' }), {
    error: 'Could not find any route',
    errorCode: 'COULD_NOT_FIND_ANY_ROUTE',
  })
  t.deepEqual(await refused('SOL', 'USDC', { amount: '1.5' }), {
    error: 'Invalid query parameter amount: Invalid',
  })
  t.deepEqual(await refused('nothing', 'USDC', { amount }), {
    error: 'Invalid query parameter inputMint: Invalid',
  })
  t.is((await getJson(`${sandbox.url}/swap/v1/quote`, {})).status, 400)
})
