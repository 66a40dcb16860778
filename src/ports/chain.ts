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
export interface ConfirmedSignature {
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

/** What is in a token account. */
export interface Holding {
  readonly mint: string
  readonly owner: string
  /** Base units; of wrapped SOL they are lamports of the account too. */
  readonly amount: bigint
  /** Who else may move it or close it, and whether it is frozen; equal texts mean equal rights. */
  readonly controls: string
}

export interface AccountState {
  readonly lamports: bigint
  /** The program it belongs to. */
  readonly program: string
  /** Undefined unless it is a token account. */
  readonly holding: Holding | undefined
}

/** Undefined where the account does not exist. */
export interface AccountChange {
  readonly before: AccountState | undefined
  readonly after: AccountState | undefined
}

export interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

/** What a transaction nobody has signed says, and what it would do now. */
export interface Simulation {
  /** Who has to sign; the first one pays the network's fee. */
  readonly signers: readonly string[]
  readonly instructions: readonly Instruction[]
  readonly failed: boolean
  /** Every account it may change. */
  readonly changes: ReadonlyMap<string, AccountChange>
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
  vanished(landed: readonly ConfirmedSignature[]): Promise<Set<string>>
  /** The newest transactions that name each key and did not fail, at most ten. An absent key was not answered about. */
  signaturesFor(keys: readonly string[]): Promise<Map<string, readonly string[]>>
  /** Readable transactions at commitment `confirmed`; an absent one must be asked for again later. */
  transactions(signatures: readonly string[]): Promise<Map<string, ChainTransaction>>
  latestBlockhash(): Promise<Blockhash>
  /** No transaction made from now on is valid for less long than this: the last valid height of a finalized block. */
  heightFloor(): Promise<number>
  /** The height a transaction's `lastValidBlockHeight` is compared with. */
  blockHeight(): Promise<number>
  transferAccounts(mint: string, recipient: string, treasury: string): Promise<TransferAccounts>
  /** Serialized unsigned v0 transaction: compute budget, missing token account of the recipient, net leg, fee transfer. */
  buildTransfer(plan: TransferPlan): Uint8Array
  /** Those of these addresses where there is a token account now. */
  tokenAccounts(addresses: readonly string[]): Promise<ReadonlySet<string>>
  /** The addresses in each lookup table; one that does not exist is absent. */
  lookupTables(keys: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /**
   * Reads and simulates an unsigned transaction on the chain as it is, against any recent block. Undefined for bytes
   * that are no transaction the chain could take.
   */
  simulate(transaction: Uint8Array): Promise<Simulation | undefined>
  /** The one token account of a wallet and mint that counts (classic token program). */
  associatedAccount(wallet: string, mint: string): string
}

/** Lamports an account without data must hold to exist (network rule; the runtime fails a transfer that leaves less). */
export const rentExemptLamports = 890_880n
