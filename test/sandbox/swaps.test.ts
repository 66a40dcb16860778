import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { type Connection, Keypair, LAMPORTS_PER_SOL, PublicKey, VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { engineWallet } from '../../scripts/sandbox/aggregator/liquidity.js'
import { type Sandbox, startSandbox } from '../../scripts/sandbox/server.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { until } from '../helpers/until.js'
import { connect, fundedKeypair, postJson } from './chain-client.js'

let sandbox: Sandbox
test.before(async () => {
  sandbox = await startSandbox({ port: 0, slotMs: 60 })
})
test.after.always(() => sandbox.close())

/** An engine's answer. */
interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read the raw answer
  readonly body: any
}

/** The signature and priority fee of a swap transaction, and the rent of a token account. */
const networkFee = 6_400
const accountRent = 2_039_280

function mintOf(symbol: string): string {
  return tokenBySymbol(symbol)?.mint ?? symbol
}

/** The address of a wallet's token account, by symbol. For SOL: of wrapped SOL. */
function tokenAccount(owner: PublicKey, symbol: string): PublicKey {
  return getAssociatedTokenAddressSync(new PublicKey(mintOf(symbol)), owner, true)
}

/** Creates a supporter with 5 SOL and, unless the symbol is SOL, an amount of a token (display units). */
async function createSupporter(symbol = 'SOL', amount = '1000'): Promise<Keypair> {
  const keypair = await fundedKeypair(connect(sandbox), 5 * LAMPORTS_PER_SOL)
  if (symbol !== 'SOL') await airdrop(keypair.publicKey, symbol, amount)
  return keypair
}

async function airdrop(wallet: PublicKey, token: string, amount: string): Promise<void> {
  await postJson(`${sandbox.url}/dev/airdrop`, { wallet: wallet.toBase58(), token, amount })
}

async function getJson(url: string, query: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${url}?${new URLSearchParams(query)}`)
  return { status: response.status, body: await response.json() }
}

/** `GET /order` for symbols, by default with the platform's fee of 2 %. */
function requestOrder(input: string, output: string, query: Record<string, string>): Promise<Answer> {
  return getJson(`${sandbox.url}/ultra/v1/order`, {
    inputMint: mintOf(input),
    outputMint: mintOf(output),
    referralAccount: sandbox.aggregator.referralAccount,
    referralFee: '200',
    ...query,
  })
}

/** `GET /quote` for symbols, by default with the platform's fee of 2 %. */
function requestQuote(input: string, output: string, query: Record<string, string>): Promise<Answer> {
  return getJson(`${sandbox.url}/swap/v1/quote`, {
    inputMint: mintOf(input),
    outputMint: mintOf(output),
    platformFeeBps: '200',
    ...query,
  })
}

/** `POST /swap` for a quote. */
function requestSwap(quoteResponse: unknown, body: Record<string, unknown>): Promise<Answer> {
  return postJson(`${sandbox.url}/swap/v1/swap`, { quoteResponse, ...body })
}

function decode(transaction: string): VersionedTransaction {
  return VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
}

/** Signs an engine's transaction and sends it to the chain, as a wallet does. Returns the signature. */
async function signAndLand(transaction: string, signer: Keypair): Promise<string> {
  const decoded = decode(transaction)
  decoded.sign([signer])
  const signature = await connect(sandbox).sendTransaction(decoded)
  await until(
    'the swap is confirmed',
    () => sandbox.chain.ledger.visible(signature, 'confirmed') !== undefined,
  )
  return signature
}

/** Posts a signed order to `/execute`. */
function executeOrder(ordered: Answer, signer: Keypair): Promise<Answer> {
  const decoded = decode(ordered.body.transaction)
  decoded.sign([signer])
  return postJson(`${sandbox.url}/ultra/v1/execute`, {
    requestId: ordered.body.requestId,
    signedTransaction: Buffer.from(decoded.serialize()).toString('base64'),
  })
}

/** The balance of a wallet in base units. For SOL: the native balance. */
async function readBalance(connection: Connection, owner: PublicKey, symbol: string): Promise<bigint> {
  if (symbol === 'SOL') return BigInt(await connection.getBalance(owner))
  return readTokenBalance(connection, tokenAccount(owner, symbol))
}

/** The balance of a token account in base units. 0 when it does not exist. */
async function readTokenBalance(connection: Connection, account: PublicKey): Promise<bigint> {
  const found = await connection.getTokenAccountBalance(account).catch(() => undefined)
  return BigInt(found?.value.amount ?? 0)
}

function unusedKey(): PublicKey {
  return Keypair.generate().publicKey
}

// Input, output, base units, and the fee's token: SOL before stablecoins before liquid staking tokens before the rest.
const orders = [
  ['SOL', 'USDC', 100_000_000n, 'SOL'],
  ['USDC', 'SOL', 10_000_000n, 'SOL'],
  ['BONK', 'USDT', 50_000_000_000n, 'USDT'],
] as const

for (const [input, output, amount, feeToken] of orders) {
  test.serial(
    `Ultra, ${input} to ${output}: the creator gets the quoted amount, and the fee is 2 %`,
    async (t) => {
      const connection = connect(sandbox)
      const supporter = await createSupporter(input, '1000000')
      const creator = unusedKey()
      const partner = new PublicKey(sandbox.aggregator.referralAccount)
      const feeAccounts = [partner, engineWallet(sandbox.chain)].map((owner) => tokenAccount(owner, feeToken))
      const feesBefore = await Promise.all(
        feeAccounts.map((account) => readTokenBalance(connection, account)),
      )
      const before = await readBalance(connection, supporter.publicKey, input)

      const { status, body } = await requestOrder(input, output, {
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
      await signAndLand(body.transaction, supporter)

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
    },
  )
}

test('the engine executes an order once, and a repeated request gets the same answer', async (t) => {
  const supporter = await createSupporter()
  const creator = unusedKey()
  const ordered = await requestOrder('SOL', 'USDC', {
    amount: '20000000',
    taker: supporter.publicKey.toBase58(),
    receiver: creator.toBase58(),
  })
  const [first, second] = [await executeOrder(ordered, supporter), await executeOrder(ordered, supporter)]
  t.is(first.body.status, 'Success')
  t.is(first.body.code, 0)
  t.is(first.body.outputAmountResult, ordered.body.outAmount)
  t.deepEqual(second.body, first.body)
  t.is(await readBalance(connect(sandbox), creator, 'USDC'), BigInt(ordered.body.outAmount))
})

test('a request that is not the signed order is refused with its error code', async (t) => {
  const supporter = await createSupporter()
  const taker = supporter.publicKey.toBase58()
  const [ordered, other] = await Promise.all(
    ['20000000', '30000000'].map((amount) => requestOrder('SOL', 'USDC', { amount, taker })),
  )
  const { requestId, transaction: unsigned } = ordered?.body ?? {}
  const signedOther = decode(other?.body.transaction)
  signedOther.sign([supporter])
  const forged = decode(unsigned)
  forged.signatures = [new Uint8Array(64).fill(7)]
  const base64 = (transaction: typeof forged) => Buffer.from(transaction.serialize()).toString('base64')
  const refusals = [
    [{ signedTransaction: unsigned }, -1],
    [{ requestId: 'unknown', signedTransaction: unsigned }, -1],
    [{ requestId, signedTransaction: base64(forged) }, -2],
    [{ requestId, signedTransaction: base64(signedOther) }, -3],
    [{ requestId, signedTransaction: unsigned }, -2],
  ] as const
  for (const [body, code] of refusals) {
    const answer = await postJson(`${sandbox.url}/ultra/v1/execute`, body)
    t.like(answer, { status: 400, body: { code } })
  }
})

/** Creates a wallet with an open account of a token. */
async function withAccount(token: string): Promise<{ wallet: PublicKey; account: PublicKey }> {
  const wallet = unusedKey()
  await airdrop(wallet, mintOf(token), '1')
  return { wallet, account: tokenAccount(wallet, token) }
}

const quotes = [
  ['SOL', 'USDC', '100000000'],
  ['USDC', 'BONK', '10000000'],
] as const

for (const [input, output, amount] of quotes) {
  test(`v6, ${input} to ${output}: the creator gets the quoted amount, and the fee account gets 2 %`, async (t) => {
    const connection = connect(sandbox)
    const supporter = await createSupporter(input, '10000000')
    const [creator, treasury] = await Promise.all([withAccount(output), withAccount(output)])
    const before = await readBalance(connection, supporter.publicKey, input)
    const [creatorBefore, feeBefore] = await Promise.all(
      [creator, treasury].map(({ account }) => readTokenBalance(connection, account)),
    )
    const quoted = (await requestQuote(input, output, { amount })).body
    const { body } = await requestSwap(quoted, {
      userPublicKey: supporter.publicKey.toBase58(),
      destinationTokenAccount: creator.account.toBase58(),
      feeAccount: treasury.account.toBase58(),
    })
    t.is(decode(body.swapTransaction).message.header.numRequiredSignatures, 1)
    await signAndLand(body.swapTransaction, supporter)
    const received = (await readTokenBalance(connection, creator.account)) - (creatorBefore ?? 0n)
    const fee = (await readTokenBalance(connection, treasury.account)) - (feeBefore ?? 0n)
    t.is(received, BigInt(quoted.outAmount))
    t.is(fee, BigInt(quoted.platformFee.amount))
    t.is(fee, (received + fee) / 50n)
    const spent = before - (await readBalance(connection, supporter.publicKey, input))
    t.is(spent, BigInt(amount) + (input === 'SOL' ? BigInt(networkFee) : 0n))
  })
}
