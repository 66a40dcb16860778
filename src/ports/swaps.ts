/** A swap to be made: what the supporter gives becomes what the creator receives. */
export interface SwapRequest {
  readonly inputMint: string
  /** Never SOL: what a creator receives by a swap is a token in their associated account. */
  readonly outputMint: string
  /** Base units of the input that leave the supporter, our fee included. */
  readonly amount: bigint
  readonly supporter: string
  readonly recipient: string
  /** The recipient's associated account of the output. */
  readonly recipientAccount: string
  /** It does not exist: the transaction has to open it. */
  readonly opensRecipientAccount: boolean
  readonly feeBps: number
  /** A token account of ours, of the input or the output, that can take the fee; undefined when there is none. */
  readonly feeAccount: string | undefined
  /** A unique key the transaction should name, by which a payment is found. */
  readonly referenceKey: string
}

/** What an engine offers. Nothing in it is to be believed before the transaction was checked. */
export interface SwapOffer {
  /** Serialized, unsigned. Never larger than `transactionBytesMax`. */
  readonly transaction: Uint8Array
  /** Base units the recipient is said to receive. */
  readonly outAmount: bigint
  /** Percent, never negative. */
  readonly priceImpactPct: number
  readonly lastValidBlockHeight: number
  /** It names the request's reference key. */
  readonly referenced: boolean
  /** Our fee is in it. */
  readonly feeTaken: boolean
}

/** A swap engine. */
export interface SwapEngine {
  readonly provider: 'aggregator-ultra' | 'aggregator-v6'
  /**
   * Asks for a price and its transaction. Throws ProviderError: `rejected` when the engine has no route we can use
   * (none at all, not for this supporter, only with a second signer or without our fee), else when it is away or
   * answers nonsense.
   */
  offer(request: SwapRequest): Promise<SwapOffer>
}

/** What fits a packet of the network. */
export const transactionBytesMax = 1232
