import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from '@solana/spl-token'
import {
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { usdc } from '../../../src/kernel/tokens.js'
import type { Draw } from '../../kit/draw.js'
import { associatedAccount } from '../../sandbox/chain/faucet.js'
import { usdcOf } from '../world/compare-moves.js'
import { type Act, type ActContext, makeDue, nothing, post } from './context.js'
import type { Stage } from './stage.js'

const { mint, decimals } = usdc

/** Pays one to three wallets in one transaction, with or without an intent, and strangers claim what they like. */
export const crypto: Act = async (context) => {
  const { stage, draw, made, truth } = context
  const payment = draw.happens(0.4)
    ? await issued(context)
    : { transaction: freePayment(stage, draw), claims: {} }
  if (payment === undefined) return nothing
  const { transaction, claims } = payment
  transaction.sign([stage.supporter])
  const signature = encodeBase58(transaction.signatures[0] as Uint8Array)
  const early = draw.happens(0.3) ? [await claim(context, signature, {})] : []
  const before = balances(stage)
  stage.sandbox.chain.submit(transaction.serialize(), { skipPreflight: true })
  const received = [...balances(stage)].flatMap(([userId, micro]): [string, bigint][] => {
    const arrived = micro - (before.get(userId) ?? 0n)
    return arrived === 0n ? [] : [[userId, arrived]]
  })
  truth.landed.set(signature, new Map(received))
  made.signatures.push(signature)
  const late = draw.happens(0.7) ? [await claim(context, signature, claims)] : []
  return { text: `crypto tip ${signature} to ${received.length}, claims: ${[...early, ...late].join(', ')}` }
}

/** A claim of any signature by anybody. */
export const stranger: Act = async (context) => {
  const signature = context.draw.one(context.made.signatures, true)
  if (signature === undefined) return nothing
  return { text: `a stranger claims ${signature}: ${await claim(context, signature, {})}` }
}

/** Slots pass, and the verifier and the finder do what is due. */
export const verify: Act = async ({ stage, draw }) => {
  const slots = draw.kind({ 1: 2, 2: 4, 40: 3 })
  await verifyAfter(stage, Number(slots))
  if (draw.happens(0.3)) {
    await makeDue(stage, 'payment_intents')
    await stage.batches.finder()
  }
  return { text: `${slots} slots pass, and the verifier runs` }
}

export async function verifyAfter(stage: Stage, slots: number): Promise<void> {
  stage.sandbox.chain.advance(slots)
  await makeDue(stage, 'tips')
  await stage.batches.verifier()
}

/** The service's own transaction for an intent; some supporters add to it. */
async function issued({ stage, draw }: ActContext) {
  const creator = draw.oneOf(stage.creators)
  const amount = draw.whole(1, 50)
  const { body } = await post(stage, '/payments/intent', {
    creatorId: creator.userId,
    amount,
    inputTokenMint: mint,
    sourceWalletAddress: stage.supporter.publicKey.toBase58(),
    tokenSymbol: 'USDC',
  })
  if (body['transaction'] === undefined) return undefined
  const { message } = VersionedTransaction.deserialize(Buffer.from(String(body['transaction']), 'base64'))
  const plain = TransactionMessage.decompile(message)
  if (draw.happens(0.3)) plain.instructions = [...plain.instructions, ...transfers(stage, draw)]
  const claims = { creatorWallet: creator.wallet, tipAmount: amount, intentId: body['intentId'] }
  return { transaction: new VersionedTransaction(plain.compileToV0Message()), claims }
}

/** A transaction that the supporter's wallet builds without the service. */
function freePayment(stage: Stage, draw: Draw): VersionedTransaction {
  const { clock } = stage.sandbox.chain
  const message = new TransactionMessage({
    payerKey: stage.supporter.publicKey,
    recentBlockhash: clock.hashOf(clock.slot),
    instructions: transfers(stage, draw),
  })
  return new VersionedTransaction(message.compileToV0Message())
}

/** One to three transfers to creators or strangers, of USDC or sometimes of SOL. */
function transfers({ creators, supporter }: Stage, draw: Draw): TransactionInstruction[] {
  const { publicKey } = supporter
  return Array.from({ length: draw.whole(1, 3) }, () => {
    const { wallet } = draw.oneOf(creators)
    const to = draw.happens(0.2) ? Keypair.generate().publicKey : new PublicKey(wallet)
    if (draw.happens(0.15))
      return [SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: to, lamports: draw.whole(2e6, 5e6) })]
    const mintKey = new PublicKey(mint)
    const account = associatedAccount(to.toBase58(), mint)
    const from = associatedAccount(publicKey.toBase58(), mint)
    const micro = draw.happens(0.2) ? 1 : draw.whole(1, 50_000_000)
    return [
      createAssociatedTokenAccountIdempotentInstruction(publicKey, account, to, mintKey),
      createTransferCheckedInstruction(from, mintKey, account, publicKey, micro, decimals),
    ]
  }).flat()
}

/** Claims a signature for any creator and any amount, or as `wanted` says. Returns the status. */
async function claim(
  { stage, draw }: ActContext,
  txSignature: string,
  wanted: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { status } = await post(stage, '/chain/tips/create', {
    creatorWallet: draw.oneOf(stage.creators).wallet,
    senderWallet: stage.supporter.publicKey.toBase58(),
    tipAmount: draw.whole(1, 100_000_000),
    tokenSymbol: 'USDC',
    txSignature,
    ...wanted,
  })
  return status
}

/** Micro-USDC in the custody wallet of every creator, by the chain. */
const balances = ({ sandbox, creators }: Stage): Map<string, bigint> =>
  new Map(creators.map(({ userId, wallet }) => [userId, usdcOf(sandbox.chain, wallet)]))
