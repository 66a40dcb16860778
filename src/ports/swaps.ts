/** A swap from the supporter's token to the token the creator receives. */
export interface SwapRequest {
  readonly inputMint: string
  /** Never SOL: a swap pays into the creator's associated token account. */
  readonly outputMint: string
  /** Base units of the input that leave the supporter, including our fee. */
  readonly amount: bigint
  readonly supporter: string
  readonly recipient: string
  /** The recipient's associated token account of the output. */
  readonly recipientAccount: string
  /** The account does not exist yet, so the transaction must create it. */
  readonly createsRecipientAccount: boolean
  readonly feeBps: number
  /** Our token account of the input or the output that takes the fee; undefined when there is none. */
  readonly feeAccount: string | undefined
  /** A unique key the transaction should name, by which the payment is found. */
  readonly referenceKey: string
}

/** An engine's offer. Do not trust it before the transaction has been checked. */
export interface SwapOffer {
  /** Serialized, unsigned. Never larger than `transactionBytesMax`. */
  readonly transaction: Uint8Array
  /** Base units the recipient receives, according to the engine. */
  readonly outAmount: bigint
  /** The quoted amount less the quoted slippage: the least that keeps the promise. Never more than `outAmount`. */
  readonly leastAmount: bigint
  /** Percent, never negative. */
  readonly priceImpactPct: number
  readonly lastValidBlockHeight: number
  /** Whether the transaction names the request's reference key. */
  readonly carriesReferenceKey: boolean
  /** Whether the transaction pays our fee. */
  readonly includesFee: boolean
}

/** The names of the engines, as intents have them. The check of `payment_intents.provider` has them too. */
export const swapEngines = ['aggregator-ultra', 'aggregator-v6'] as const

/** A swap engine. */
export interface SwapEngine {
  readonly provider: (typeof swapEngines)[number]
  /**
   * Requests a price with its transaction. Throws ProviderError: `rejected` when the engine has no route we can use (none
   * at all, not for this supporter, only with a second signer or without our fee), otherwise when it is unavailable or
   * its answer cannot be understood.
   */
  offer(request: SwapRequest): Promise<SwapOffer>
}

/** Size of a network packet (Solana), the limit of a transaction. */
export const transactionBytesMax = 1232
