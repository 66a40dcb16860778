import { decodeTransferCheckedInstruction, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  type PublicKey,
  SystemInstruction,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import test from 'ava'
import { associatedAccount, mintTokens, requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { solMint, type Token, tokenBySymbol } from '../../src/kernel/tokens.js'
import { createIntent, type IntentBody, untilConfirmedOnChain } from '../helpers/make/intents.js'
import { kit, solanaPay } from '../helpers/make/solana-pay.js'
import { createSupporter, unusedWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })
const associatedProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const mostBytes = 1232
const source = unusedWallet()

function known(symbol: string): Token {
  return tokenBySymbol(symbol) as Token
}

/** The transaction as web3.js decodes it, with its instructions by program. */
function read(intent: IntentBody) {
  const bytes = Buffer.from(intent.transaction, 'base64')
  const transaction = VersionedTransaction.deserialize(bytes)
  const { instructions } = TransactionMessage.decompile(transaction.message)
  const of = (program: string) => instructions.filter(({ programId }) => programId.toBase58() === program)
  return { bytes, transaction, instructions, of }
}

async function storedIntent({ intentId }: IntentBody) {
  return world().db('payment_intents').where({ id: intentId }).first()
}

function readSolTransfer(instruction: TransactionInstruction) {
  const { fromPubkey, toPubkey, lamports } = SystemInstruction.decodeTransfer({
    ...instruction,
    keys: instruction.keys.slice(0, 2),
  })
  return { from: fromPubkey.toBase58(), to: toPubkey.toBase58(), units: lamports }
}

function readTokenTransfer(instruction: TransactionInstruction) {
  // The reference key follows the owner. web3.js would read it as another signer of a multisig.
  const { keys, data } = decodeTransferCheckedInstruction({
    ...instruction,
    keys: instruction.keys.slice(0, 4),
  })
  const at = (key: { pubkey: PublicKey }) => key.pubkey.toBase58()
  return {
    from: at(keys.source),
    to: at(keys.destination),
    owner: at(keys.owner),
    mint: at(keys.mint),
    units: data.amount,
    decimals: data.decimals,
  }
}

for (const [symbol, amount] of [
  ['SOL', 1.000000049],
  ['USDC', 12.345678],
  ['USDT', 0.01],
  ['BONK', 1_234_567.89012],
] as const) {
  test(`the transaction of a tip in ${symbol} pays only the quoted amounts, to creator and treasury`, async (t) => {
    const { mint, decimals } = known(symbol)
    const recipient = unusedWallet()
    const intent = await createIntent(world().request, {
      creatorId: recipient,
      amount,
      inputTokenMint: mint,
      sourceWalletAddress: source,
    })
    const { bytes, transaction, instructions, of } = read(intent)
    const { message, signatures } = transaction
    const treasury = world().env['TREASURY_WALLET'] ?? ''
    const stored = await storedIntent(intent)

    t.is(transaction.version, 0)
    t.true(bytes.length <= mostBytes, `${bytes.length} bytes`)
    t.is(signatures.length, 1)
    t.true(signatures.every((signature) => signature.every((byte) => byte === 0)))
    t.is(message.header.numRequiredSignatures, 1)
    t.is(message.staticAccountKeys[0]?.toBase58(), source)
    t.is(message.addressTableLookups.length, 0)

    const gross = BigInt(Math.round(amount * 10 ** decimals))
    const fee = (gross * 200n) / 10_000n
    const transfers =
      mint === solMint ? of(SystemProgram.programId.toBase58()) : of(TOKEN_PROGRAM_ID.toBase58())
    const [platform, net] = transfers
    t.is(transfers.length, 2)
    if (net === undefined || platform === undefined) return
    if (mint === solMint) {
      t.deepEqual(readSolTransfer(net), { from: source, to: recipient, units: gross - fee })
      t.deepEqual(readSolTransfer(platform), { from: source, to: treasury, units: fee })
    } else {
      const account = (wallet: string) => associatedAccount(wallet, mint).toBase58()
      const expected = { from: account(source), owner: source, mint, decimals }
      t.deepEqual(readTokenTransfer(net), { ...expected, to: account(recipient), units: gross - fee })
      t.deepEqual(readTokenTransfer(platform), { ...expected, to: account(treasury), units: fee })
      const [open, ...others] = of(associatedProgram)
      t.deepEqual(others, [])
      t.deepEqual([...(open?.data ?? [])], [1], 'creates the account only when it is missing')
      t.deepEqual(
        open?.keys.slice(0, 4).map(({ pubkey }) => pubkey.toBase58()),
        [source, account(recipient), recipient, mint],
      )
    }
    t.is(of(ComputeBudgetProgram.programId.toBase58()).length, 2)
    t.is(instructions.length, mint === solMint ? 4 : 5, 'no other instructions')
    t.is(instructions.at(-1), net, 'Solana Pay reads the last instruction')

    const reference = net.keys.at(-1)
    t.deepEqual(
      { key: reference?.pubkey.toBase58(), isSigner: reference?.isSigner, isWritable: reference?.isWritable },
      { key: stored.reference_key, isSigner: false, isWritable: false },
    )
    t.like(stored, {
      payout_wallet: recipient,
      source_wallet: source,
      input_mint: mint,
      output_mint: mint,
      input_raw: String(gross),
      expected_raw: String(gross - fee),
      fee_raw: String(fee),
      provider: 'direct-transfer',
      execution_mode: 'sync',
    })
    t.is(intent.quote.outAmount, String(gross - fee))
    t.deepEqual(stored.transaction, bytes)
    t.is(stored.last_valid_block_height, BigInt(intent.lastValidBlockHeight))

    const hash = message.recentBlockhash
    const { clock } = world().sandbox.chain
    t.is(clock.hashOf(intent.lastValidBlockHeight - 150), hash, 'the height belongs to the blockhash')
    t.true(clock.slotOfRecentHash(hash) !== undefined)
  })
}

test('every intent has its own reference key', async (t) => {
  const body = {
    creatorId: unusedWallet(),
    amount: 1,
    inputTokenMint: solMint,
    sourceWalletAddress: source,
  }
  const intents = await Promise.all(Array.from({ length: 8 }, () => createIntent(world().request, body)))
  const stored = await Promise.all(intents.map(storedIntent))
  t.is(new Set(stored.map(({ reference_key: key }) => key)).size, 8)
  t.is(new Set(intents.map(({ transaction }) => transaction)).size, 8)
})

test('the smallest SOL tip to a new wallet is its rent, and one lamport less is refused', async (t) => {
  const { request, sandbox } = world()
  const requestIntent = (creatorId: string, lamports: number) =>
    request('POST', '/payments/intent', {
      body: { creatorId, amount: lamports / 1e9, inputTokenMint: solMint, sourceWalletAddress: source },
    })
  const recipient = unusedWallet()
  // Gross 909,061: fee 18,181, net 890,880.
  t.is((await requestIntent(recipient, 909_061)).status, 200)
  const refused = await requestIntent(recipient, 909_060)
  t.like(refused, { status: 422 })
  t.is(refused.body.error, 'Amount below the network minimum')
  requestAirdrop(sandbox.chain, recipient, 890_880n)
  // The accounts are read at `confirmed`.
  await until('the network takes it', async () => (await requestIntent(recipient, 100_000)).status === 200)
})

test('the transaction of an intent for a real wallet can be signed unchanged and lands', async (t) => {
  const { request, sandbox } = world()
  for (const symbol of ['SOL', 'USDC', 'USDT', 'BONK']) {
    const supporter = createSupporter(sandbox, symbol === 'SOL' ? [] : [symbol])
    const body = { creatorId: unusedWallet(), amountUsd: 5, inputTokenMint: known(symbol).mint }
    const intent = await createIntent(request, { ...body, sourceWalletAddress: supporter.wallet })
    const signature = supporter.pay(intent.transaction)
    t.is(sandbox.chain.ledger.get(signature)?.meta.err, null, symbol)
  }
})

test("Solana Pay's validators accept a creator's first tip where the token account exists", async (t) => {
  const { request, sandbox } = world()
  const rpc = kit.createSolanaRpc(sandbox.url)
  const { findReference, validateTransfer } = solanaPay
  for (const symbol of ['SOL', 'USDC']) {
    const { mint, decimals } = known(symbol)
    const supporter = createSupporter(sandbox, symbol === 'SOL' ? [] : [symbol])
    const recipient = unusedWallet()
    const pay = async (recipient: string) => {
      const body = { creatorId: recipient, amountUsd: 5, inputTokenMint: mint }
      const intent = await createIntent(request, { ...body, sourceWalletAddress: supporter.wallet })
      const signature = supporter.pay(intent.transaction)
      await untilConfirmedOnChain(world(), [signature])
      const { reference_key: reference } = await storedIntent(intent)
      t.is((await findReference(rpc, reference)).signature, signature)
      const amount = Number(intent.quote.outAmount) / 10 ** decimals
      const token = symbol === 'SOL' ? {} : { splToken: mint }
      return { signature, expected: { recipient, amount, reference, ...token } }
    }
    if (symbol !== 'SOL') {
      const { signature, expected } = await pay(unusedWallet())
      const unread = { message: /missing balance data/i }
      await t.throwsAsync(validateTransfer(rpc, signature, expected), unread, 'as the manual says')
      mintTokens(sandbox.chain, recipient, mint, 1n)
    }
    const { signature, expected } = await pay(recipient)
    await t.notThrowsAsync(validateTransfer(rpc, signature, expected), symbol)
    await t.throwsAsync(validateTransfer(rpc, signature, { ...expected, recipient: unusedWallet() }))
    await t.throwsAsync(validateTransfer(rpc, signature, { ...expected, amount: expected.amount * 1.01 }))
  }
})

test('a wallet off the curve gives a readable transaction', async (t) => {
  const creatorId = encodeBase58(Buffer.alloc(32, 255))
  const body = { creatorId, amount: 1, inputTokenMint: known('USDC').mint, sourceWalletAddress: source }
  const { message } = read(await createIntent(world().request, body)).transaction
  t.is(message.staticAccountKeys[0]?.toBase58(), source)
})
