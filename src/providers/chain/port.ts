/** How sure the cluster is of a transaction; `processed` may still be dropped, `none` has not been seen (yet). */
type Commitment = 'none' | 'processed' | 'confirmed' | 'finalized'

export interface SignatureStatus {
  readonly commitment: Commitment
  /** The transaction landed and its instructions failed: it moved nothing but its own fee. */
  readonly failed: boolean
  /** Where it landed; 0n when it has not been seen. */
  readonly slot: bigint
}

/** A signature and where it had landed. */
export interface Sighting {
  readonly signature: string
  readonly slot: bigint
}

/** How one token account changed over a whole transaction, in raw units of its mint. */
export interface TokenChange {
  readonly account: string
  readonly mint: string
  /** Who owned the account before and after; undefined where it did not exist. */
  readonly ownerBefore: string | undefined
  readonly ownerAfter: string | undefined
  /** True for the classic SPL token program; Token-2022 may take fees, hooks and claw backs. */
  readonly classic: boolean
  readonly delta: bigint
}

/** What a transaction did, as balances over the whole of it: instructions can be undone by later ones, balances not. */
export interface ChainTransaction {
  readonly signature: string
  /** SHA-256 of its message, hex: equal to that of a message we issued when no wallet has altered it. */
  readonly messageHash: string
  readonly failed: boolean
  readonly slot: bigint
  readonly blockTime: Date | undefined
  /** Every account it names, those of lookup tables included. */
  readonly accounts: ReadonlySet<string>
  readonly signers: ReadonlySet<string>
  readonly feePayer: string
  /** The network fee in lamports, paid by the fee payer. */
  readonly networkFee: bigint
  /** Change in lamports per account, where there is one. */
  readonly lamports: ReadonlyMap<string, bigint>
  readonly tokens: readonly TokenChange[]
}

/** What is asked of the chain before a direct transfer is built. */
export interface TransferAccounts {
  /** Lamports of a wallet, 0n when it does not exist. */
  readonly recipientLamports: bigint
  readonly treasuryLamports: bigint
  /** Whether the treasury's token account of the mint exists; for SOL always true. */
  readonly treasuryTokenAccount: boolean
}

export interface TransferPlan {
  readonly mint: string
  readonly decimals: number
  readonly sender: string
  readonly recipient: string
  readonly treasury: string
  /** Base units the recipient gets. */
  readonly net: bigint
  /** Base units the treasury gets; 0n leaves the leg out. */
  readonly fee: bigint
  /** A unique read-only key in the transfer, by which a payment is found. */
  readonly referenceKey: string
  readonly blockhash: string
}

export interface Blockhash {
  readonly blockhash: string
  readonly lastValidBlockHeight: number
}

/** The chain as the service sees it. All methods that ask the network throw ProviderError when there is no usable answer. */
export interface Chain {
  /** One that is absent was not answered about, which says nothing. Any number; asked in batches. */
  statuses(signatures: readonly string[]): Promise<Map<string, SignatureStatus>>
  /**
   * Those of the landed transactions that no endpoint knows as successful any more: it landed again and failed, or is
   * unknown though the node is so far beyond the slot that it could not land again. Throws unless every endpoint
   * answers: one node that lost its memory proves nothing.
   */
  vanished(landed: readonly Sighting[]): Promise<Set<string>>
  /** The newest transactions that name each key and did not fail, at most ten. An absent key was not answered about. */
  signaturesFor(keys: readonly string[]): Promise<Map<string, readonly string[]>>
  /** Readable transactions at commitment `confirmed`; an absent one must be asked for again later. */
  transactions(signatures: readonly string[]): Promise<Map<string, ChainTransaction>>
  latestBlockhash(): Promise<Blockhash>
  /** The height a transaction's `lastValidBlockHeight` is compared with. */
  blockHeight(): Promise<number>
  transferAccounts(mint: string, recipient: string, treasury: string): Promise<TransferAccounts>
  /** Serialized unsigned v0 transaction: compute budget, missing token account of the recipient, net leg, fee leg. */
  buildTransfer(plan: TransferPlan): Uint8Array
  /** The one token account of a wallet and mint that counts (classic token program). */
  associatedAccount(wallet: string, mint: string): string
}

/** Lamports an account without data must hold to exist (network rule; the runtime fails a transfer that leaves less). */
export const rentExemptLamports = 890_880n
