import { setTimeout as pause } from 'node:timers/promises'
import {
  Connection,
  type Keypair,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import type { Chain } from '../../../../src/ports/chain.js'
import { RefusedError } from '../order.js'

const pollMs = 400

/**
 * Signs the instructions with the payer's key, submits them as one transaction and waits until it is confirmed. Returns
 * the signature. Throws RefusedError when the transaction failed or can no longer land; then it changed nothing.
 */
export async function submitAndConfirm(
  chain: Chain,
  rpcUrl: string,
  payer: Keypair,
  instructions: readonly TransactionInstruction[],
): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const transaction = new VersionedTransaction(
    new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [...instructions],
    }).compileToV0Message(),
  )
  transaction.sign([payer])
  const connection = new Connection(rpcUrl, 'confirmed')
  const signature = await connection.sendTransaction(transaction).catch((error: Error) => {
    throw new RefusedError(`the chain does not accept the transaction: ${error.message.split('\n')[0]}`)
  })
  process.stderr.write(`submitted ${signature}, waiting until it is confirmed\n`)
  for (;;) {
    const isPast = (await chain.blockHeight()) > lastValidBlockHeight
    const answered = await chain.statuses([signature])
    const { commitment, failed } = answered.get(signature) ?? {}
    if (failed) throw new RefusedError(`transaction ${signature} failed`)
    if (commitment === 'confirmed' || commitment === 'finalized') return signature
    if (isPast && answered.has(signature) && commitment !== 'processed')
      throw new RefusedError(`transaction ${signature} did not land in time`)
    await pause(pollMs)
  }
}
