import { type MessageV0, TransactionMessage } from '@solana/web3.js'
import { decodeBase58 } from '../../../src/kernel/base58.js'
import type { LocalChain } from '../chain/local-chain.js'
import { latestBlockhash } from '../chain/rpc/cluster.js'
import { buildSwap, type SwapPlan } from './build-swap.js'
import { lookupTableOf } from './liquidity.js'

/** An unsigned transaction. */
export interface UnsignedTransaction {
  readonly transaction: Buffer
  /** The bytes to sign. */
  readonly message: Buffer
  readonly lastValidBlockHeight: number
}

const signatureBytes = 64
const version0 = 0x80

/** Composes a plan's v0 transaction, of any size, with the newest confirmed blockhash and the engine's lookup table. */
export function composeTransaction(chain: LocalChain, plan: SwapPlan): UnsignedTransaction {
  const { blockhash, lastValidBlockHeight } = latestBlockhash(chain, 'confirmed')
  const compiled = new TransactionMessage({
    payerKey: plan.cosigner ?? plan.user,
    recentBlockhash: blockhash,
    instructions: buildSwap(plan),
  }).compileToV0Message([lookupTableOf(chain)])
  const message = messageBytes(compiled)
  const signatures = compiled.header.numRequiredSignatures
  const transaction = Buffer.concat([list(new Array(signatures).fill(Buffer.alloc(signatureBytes))), message])
  return { transaction, message, lastValidBlockHeight }
}

/** Serializes a message like web3.js, which refuses messages larger than a packet. The engines return such messages. */
function messageBytes({
  header,
  staticAccountKeys,
  recentBlockhash,
  compiledInstructions,
  addressTableLookups,
}: MessageV0): Buffer {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header
  return Buffer.concat([
    Buffer.from([version0, numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts]),
    list(staticAccountKeys.map((key) => key.toBuffer())),
    decodeBase58(recentBlockhash) ?? Buffer.alloc(0),
    list(
      compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) =>
        Buffer.concat([Buffer.from([programIdIndex]), bytes(accountKeyIndexes), bytes(data)]),
      ),
    ),
    list(
      addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) =>
        Buffer.concat([accountKey.toBuffer(), bytes(writableIndexes), bytes(readonlyIndexes)]),
      ),
    ),
  ])
}

function bytes(values: ArrayLike<number>): Buffer {
  return Buffer.concat([length(values.length), Buffer.from(Array.from(values))])
}

function list(items: readonly Buffer[]): Buffer {
  return Buffer.concat([length(items.length), ...items])
}

/** A length in Solana's compact-u16 encoding: seven bits per byte, lowest first. */
function length(value: number): Buffer {
  const low = value & 0x7f
  return value > 0x7f ? Buffer.concat([Buffer.from([low | 0x80]), length(value >> 7)]) : Buffer.from([low])
}
