import type { Blockhash, SignaturesSince, WalletAccount } from './chain.js'

/** One payment of a message: base units of a token, or lamports, from a custody wallet to another wallet. */
export interface Payment {
  /** The custody wallet. It signs. */
  readonly from: string
  readonly to: string
  readonly mint: string
  readonly decimals: number
  readonly amount: bigint
  /** A unique read-only key in the payment, by which its transaction is found. */
  readonly referenceKey?: string
}

/** A message that moves what custody wallets hold, in plain values. */
export interface MessagePlan {
  /** Pays the network fee and the rent of new accounts. Never a custody wallet. */
  readonly payer: string
  readonly blockhash: string
  /** Opens the recipients' associated token accounts where they are missing. */
  readonly opensAccounts: boolean
  /** Closes the payers' accounts of wrapped SOL first, so that the wallets have what is in them. */
  readonly unwraps?: boolean
  readonly payments: readonly Payment[]
}

interface ReadAccount {
  readonly address: string
  readonly signer: boolean
  readonly writable: boolean
}

export interface ReadInstruction {
  readonly program: string
  readonly accounts: readonly ReadAccount[]
  readonly data: Uint8Array
}

/** A message as it would be executed. */
export interface ReadMessage {
  readonly blockhash: string
  /** The required signers, in the order of their signatures. The first one pays. */
  readonly signers: readonly string[]
  readonly instructions: readonly ReadInstruction[]
}

/** An account that holds one token, or a wallet's SOL with what its account of wrapped SOL holds. */
export interface TokenSource {
  /** Base units; lamports for SOL. */
  readonly amount: bigint
  /**
   * Why it cannot pay or be paid: `closed` (there is no account), `frozen`, `foreign` (another program, owner or mint). Of SOL:
   * never `closed`, because a wallet without SOL does not exist.
   */
  readonly fault: 'closed' | 'frozen' | 'foreign' | undefined
  /** There is an account of wrapped SOL. */
  readonly wrapped?: true
}

/** What is certain about a signed transaction. */
export type Fate =
  /** It landed for good. */
  | { readonly kind: 'final' }
  /** It landed for good and its instructions failed, by every endpoint: it moved nothing. */
  | { readonly kind: 'failed' }
  /**
   * It can no longer land: at every endpoint the finalized height has passed the last valid one, and afterwards each of them does not
   * know the signature, or shows that it failed for good. `endpoints`: how many said so. One alone may have lost its history.
   */
  | { readonly kind: 'gone'; readonly endpoints: number }
  | { readonly kind: 'open' }

/** A signed transaction whose fate is asked. Without a signature it was never completed, so only its height counts. */
export interface Submission {
  readonly signature: string | undefined
  readonly lastValidHeight: number
}

/**
 * What moving tokens out of custody needs of the chain. It signs and submits nothing. Methods that call the network throw
 * ProviderError when there is no usable answer.
 */
export interface CustodyChain {
  /** The bytes that every signer signs: a v0 message with compute budget, accounts to open or unwrap, payments. Nothing else. */
  buildMessage(plan: MessagePlan): Uint8Array
  /** Undefined for bytes that are no message, that load addresses from lookup tables, or that are not in their canonical form. */
  readMessage(message: Uint8Array): ReadMessage | undefined
  /** How many bytes the signed transaction has. A packet holds `packetBytes`. */
  sizeOf(message: Uint8Array): number
  /** The transaction of a message and its signatures, base58 by address. Throws when one is missing. */
  assemble(message: Uint8Array, signatures: Readonly<Record<string, string>>): Uint8Array
  /** The transaction of a message with empty signatures, for a simulation or a wallet. */
  unsigned(message: Uint8Array): Uint8Array
  /**
   * Read anew each time: two messages with the same content and blockhash would be one transaction. Of several endpoints all must
   * answer, and the last valid height is not below what any of them allows.
   */
  freshBlockhash(): Promise<Blockhash>
  /** What accounts hold, in the order given. */
  readSources(
    sources: readonly WalletAccount[],
    commitment: 'confirmed' | 'finalized',
  ): Promise<TokenSource[]>
  fates(submissions: readonly Submission[]): Promise<Fate[]>
  /**
   * The landed transactions that name a key, by any endpoint, failed ones too. `whole`: false when an endpoint has more than are read.
   * Throws unless all answer.
   */
  signaturesNaming(key: string): Promise<SignaturesSince>
}

/** The largest transaction that the network carries. */
export const packetBytes = 1232
