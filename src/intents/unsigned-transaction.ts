import { randomBytes } from 'node:crypto'
import { encodeBase58 } from '../kernel/base58.js'
import type { Token } from '../kernel/tokens.js'
import type { IntentAnswer } from './schemas.js'

export interface UnsignedTransaction {
  readonly provider: IntentAnswer['provider']
  /** The token the creator receives. */
  readonly output: Token
  readonly transaction: Uint8Array
  readonly lastValidBlockHeight: number
  /** The key in the transaction by which the finder searches for its payment (docs/decisions/0013); null without one. */
  readonly referenceKey: string | null
  /** SHA-256 of the message; null with a reference key. */
  readonly messageHash: Buffer | null
  /** The amount the creator receives, in base units of the output. */
  readonly outAmount: bigint
  /** The least amount that pays the intent: `outAmount`, for a swap less the quoted slippage. */
  readonly leastAmount: bigint
  /** The platform fee in base units of the input; 0n when it is left out. */
  readonly fee: bigint
  /** Percent. */
  readonly priceImpactPct: number
}

/** An address without a secret key: only its uniqueness matters. Solana Pay takes any 32 bytes. */
export function newReferenceKey(): string {
  return encodeBase58(randomBytes(32))
}
