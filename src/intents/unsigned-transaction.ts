import type { Token } from '../kernel/tokens.js'
import type { IntentAnswer } from './schemas.js'

/** A transaction ready to be signed, and what it does. */
export interface UnsignedTransaction {
  readonly provider: IntentAnswer['provider']
  /** What the creator receives. */
  readonly output: Token
  readonly transaction: Uint8Array
  readonly lastValidBlockHeight: number
  /** The key in the transaction by which its payment is found, or null when it cannot carry one. */
  readonly referenceKey: string | null
  /** SHA-256 of the message, where there is no reference key. */
  readonly messageHash: Buffer | null
  /** Base units of the output the creator receives. */
  readonly outAmount: bigint
  /** Our fee in base units of the input; 0n when it is left out. */
  readonly fee: bigint
  /** Percent. */
  readonly priceImpactPct: number
}
