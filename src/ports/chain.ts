/** How sure the cluster is of a transaction. `processed` may still be dropped; `none` has not been seen (yet). */
type Commitment = 'none' | 'processed' | 'confirmed' | 'finalized'

export interface SignatureStatus {
  readonly commitment: Commitment
  /** The transaction landed but its instructions failed: it moved nothing except its network fee. */
  readonly failed: boolean
  /** The slot it landed in; 0n when it has not been seen. */
  readonly slot: bigint
}

/** A signature and the slot it landed in. */
export interface ConfirmedSignature {
  readonly signature: string
  readonly slot: bigint
}

/** What names an address. `whole`: false when there are more than anybody reads. */
export interface SignaturesSince {
  readonly signatures: readonly string[]
  readonly whole: boolean
}

/** A transaction that names an address. */
export interface NamingSignature {
  readonly signature: string
  readonly failed: boolean
  /** Undefined: the node does not know it yet. */
  readonly blockTime: Date | undefined
}

/** Which transactions of an address are asked for: the newest before `before`, none at `until` or older. */
export interface SignaturePage {
  readonly address: string
  readonly before?: string | undefined
  readonly until?: string | undefined
}

/** How one token account changed over a whole transaction, in base units of its mint. */
export interface TokenChange {
  readonly account: string
  readonly mint: string
  /** Owner of the account before and after; undefined where it did not exist. */
  readonly ownerBefore: string | undefined
  readonly ownerAfter: string | undefined
  /** True for the classic SPL token program. Token-2022 tokens may have fees, hooks and clawbacks. */
  readonly classic: boolean
  readonly delta: bigint
}

/**
 * The effect of a transaction, as balance changes over the whole of it. Instructions prove less, since a later
 * instruction can undo an earlier one.
 */
export interface ChainTransaction {
  readonly signature: string
  /** SHA-256 of its message, hex. Equals the hash of the message we issued unless the wallet altered it. */
  readonly messageHash: string
  readonly failed: boolean
  readonly slot: bigint
  readonly blockTime: Date | undefined
  /** Every account it names, including those of lookup tables. */
  readonly accounts: ReadonlySet<string>
  readonly signers: ReadonlySet<string>
  readonly feePayer: string
  /** The network fee in lamports, paid by the fee payer. */
  readonly networkFee: bigint
  /** Change in lamports per account; accounts without a change are absent. */
  readonly lamports: ReadonlyMap<string, bigint>
  readonly tokens: readonly TokenChange[]
}

/** What must be known before a direct transfer is built. */
export interface TransferAccounts {
  /** Lamports of a wallet, 0n when it does not exist. */
  readonly recipientLamports: bigint
  readonly treasuryLamports: bigint
  /** Whether the treasury's token account of the mint exists. Always true for SOL. */
  readonly treasuryTokenAccount: boolean
}

export interface TransferPlan {
  readonly mint: string
  readonly decimals: number
  readonly sender: string
  readonly recipient: string
  readonly treasury: string
  /** Base units for the recipient. */
  readonly net: bigint
  /** Base units for the treasury. 0n leaves the fee transfer out. */
  readonly fee: bigint
  /** A unique read-only key in the transfer, by which the payment is found. */
  readonly referenceKey: string
  readonly blockhash: string
}

export interface Blockhash {
  readonly blockhash: string
  readonly lastValidBlockHeight: number
}

/** The contents of a token account. */
export interface TokenHolding {
  readonly mint: string
  readonly owner: string
  /** Base units. For wrapped SOL they are also part of the account's lamports. */
  readonly amount: bigint
  /** Its issuer lets nothing in or out. */
  readonly frozen: boolean
  /** Who else may move the tokens or close the account, and whether it is frozen. Equal texts mean equal rights. */
  readonly controls: string
}

export interface AccountState {
  readonly lamports: bigint
  /** The program that owns the account. */
  readonly program: string
  /** Undefined unless it is a token account. */
  readonly holding: TokenHolding | undefined
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

/** The content of an unsigned transaction, and its effect if it ran now. */
export interface Simulation {
  /** The required signers. The first one pays the network fee. */
  readonly signers: readonly string[]
  readonly instructions: readonly Instruction[]
  readonly failed: boolean
  /** Every account it may change. */
  readonly changes: ReadonlyMap<string, AccountChange>
}

/** An account of a wallet: its associated account of a mint (classic token program), or the wallet itself for SOL. */
export interface WalletAccount {
  readonly wallet: string
  readonly mint: string
}

/** What accounts hold in finalized blocks. */
export interface FinalizedHoldings {
  /** The oldest slot that was read at; 0n when nothing was asked. */
  readonly slot: bigint
  /** The newest slot that any endpoint showed. */
  readonly newestSlot: bigint
  /** Base units, in the order of the question. 0n for an account that does not exist or belongs to another owner. */
  readonly amounts: readonly bigint[]
}

/** The chain as the service sees it. Methods that call the network throw ProviderError when there is no usable answer. */
export interface Chain {
  /** Any number of signatures, requested in batches. An absent signature had no answer, which proves nothing. */
  statuses(signatures: readonly string[]): Promise<Map<string, SignatureStatus>>
  /**
   * The landed transactions that the cluster has dropped: on every endpoint the transaction has either landed again and
   * failed, or is unknown although the node is so far past the slot that it can no longer land. Throws unless every
   * endpoint answers, since a single node may have lost its history.
   */
  findDropped(landed: readonly ConfirmedSignature[]): Promise<Set<string>>
  /** The newest successful transactions that name each key, at most ten per key. An absent key had no answer. */
  signaturesFor(keys: readonly string[]): Promise<Map<string, readonly string[]>>
  /**
   * The successful transactions that name each address since a moment, newest first. An absent address had no answer, which proves
   * nothing.
   */
  signaturesSince(addresses: readonly string[], since: Date): Promise<Map<string, SignaturesSince>>
  /** One page of at most a hundred transactions that name an address, newest first; empty at the end. An absent address had no answer. */
  signaturePages(pages: readonly SignaturePage[]): Promise<Map<string, readonly NamingSignature[]>>
  /**
   * What any accounts hold now: base units of a token account, else lamports, also of wrapped SOL; 0n without an account. Read in
   * batches of a hundred. An absent address had no answer.
   */
  held(addresses: readonly string[]): Promise<Map<string, bigint>>
  /** Transactions at commitment `confirmed`. An absent one cannot be read yet: request it again later. */
  transactions(signatures: readonly string[]): Promise<Map<string, ChainTransaction>>
  /**
   * The finalized transaction as each endpoint shows it, one entry per endpoint; undefined where an endpoint does not have it. A
   * signature is absent when an endpoint gave no answer about it.
   */
  finalizedEverywhere(
    signatures: readonly string[],
  ): Promise<ReadonlyMap<string, readonly (ChainTransaction | undefined)[]>>
  /**
   * What any number of accounts hold in finalized blocks, read in batches: the least that any endpoint shows. Throws ProviderError
   * unless each endpoint has an answer for each. An endpoint that has not finalized `minSlot` yet gives none.
   */
  finalizedHoldings(accounts: readonly WalletAccount[], minSlot: bigint): Promise<FinalizedHoldings>
  latestBlockhash(): Promise<Blockhash>
  /** The last valid height of a finalized block. A transaction built from now on stays valid at least until then. */
  minLastValidBlockHeight(): Promise<number>
  /** The height a transaction's `lastValidBlockHeight` is compared with. */
  blockHeight(): Promise<number>
  transferAccounts(mint: string, recipient: string, treasury: string): Promise<TransferAccounts>
  /** Serialized unsigned v0 transaction: compute budget, the recipient's token account, fee transfer, net transfer. */
  buildTransfer(plan: TransferPlan): Uint8Array
  /**
   * Whether a person may hold the key of the address: it is no program, mint, token account or sysvar. An account that does
   * not exist may be a person's. Remembered for ten minutes.
   */
  isWallet(address: string): Promise<boolean>
  /** Base units by mint of what a wallet holds in its associated accounts (classic token program); lamports for SOL. */
  walletBalances(wallet: string, mints: readonly string[]): Promise<ReadonlyMap<string, bigint>>
  /** Those of the addresses that are token accounts now. */
  tokenAccounts(addresses: readonly string[]): Promise<ReadonlySet<string>>
  /** The addresses in each lookup table. A table that does not exist is absent. */
  lookupTables(keys: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /**
   * Decodes an unsigned transaction and simulates it on the current chain, with any recent blockhash. Undefined for
   * bytes that are not a transaction the chain accepts.
   */
  simulate(transaction: Uint8Array): Promise<Simulation | undefined>
  /** The associated token account of a wallet and mint (classic token program). */
  associatedAccount(wallet: string, mint: string): string
}

/** Minimum lamports of an account without data. The runtime fails a transfer that leaves less. */
export const rentExemptLamports = 890_880n
