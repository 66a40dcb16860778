import type { ChainClock, Commitment } from './clock.js'
import type { TokenBalance } from './token-accounts.js'
import type { Execution } from './vm/svm.js'
import type { TransactionError } from './vm/svm-errors.js'

/** A landed transaction with its metadata in JSON-RPC format. Balances are lamports. */
export interface LedgerRecord {
  readonly signature: string
  readonly slot: number
  readonly blockTime: number
  /** The transaction's bytes, base64. */
  readonly raw: string
  /** Every account key, in order: own, loaded writable, loaded read-only. */
  readonly keys: readonly string[]
  readonly memo: string | null
  readonly meta: {
    readonly err: TransactionError | null
    readonly status: { Ok: null } | { Err: TransactionError }
    readonly fee: number
    readonly preBalances: readonly number[]
    readonly postBalances: readonly number[]
    readonly preTokenBalances: readonly TokenBalance[]
    readonly postTokenBalances: readonly TokenBalance[]
    readonly innerInstructions: Execution['innerInstructions']
    readonly logMessages: readonly string[]
    readonly loadedAddresses: { readonly writable: readonly string[]; readonly readonly: readonly string[] }
    readonly rewards: readonly never[]
    readonly computeUnitsConsumed: number
    readonly returnData?: NonNullable<Execution['returnData']>
  }
}

const rank = { processed: 0, confirmed: 1, finalized: 2 } as const

/** The landed transactions, by signature and by every address they mention. */
export class Ledger {
  readonly #clock: ChainClock
  readonly #records = new Map<string, LedgerRecord>()
  readonly #byAddress = new Map<string, string[]>()
  readonly #holds = new Map<string, Commitment>()

  constructor(clock: ChainClock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#records.size
  }

  add(record: LedgerRecord): void {
    this.#records.set(record.signature, record)
    for (const key of record.keys) {
      const signatures = this.#byAddress.get(key)
      if (signatures) signatures.push(record.signature)
      else this.#byAddress.set(key, [record.signature])
    }
  }

  get(signature: string): LedgerRecord | undefined {
    return this.#records.get(signature)
  }

  /** Signatures of the transactions that mention an address, oldest first. */
  signaturesOf(address: string): readonly string[] {
    return this.#byAddress.get(address) ?? []
  }

  /** How far the cluster has confirmed a transaction. */
  commitmentOf(record: LedgerRecord): Commitment {
    const reached =
      record.slot <= this.#clock.slotAt('finalized')
        ? 'finalized'
        : record.slot <= this.#clock.slotAt('confirmed')
          ? 'confirmed'
          : 'processed'
    const cap = this.#holds.get(record.signature)
    return cap && rank[cap] < rank[reached] ? cap : reached
  }

  /** The transaction, if it has reached this commitment. */
  visible(signature: string, commitment: Commitment): LedgerRecord | undefined {
    const record = this.#records.get(signature)
    return record && rank[this.commitmentOf(record)] >= rank[commitment] ? record : undefined
  }

  /** Keeps a transaction from going beyond a commitment. `undefined` removes the hold. */
  hold(signature: string, cap: Commitment | undefined): void {
    if (cap) this.#holds.set(signature, cap)
    else this.#holds.delete(signature)
  }

  releaseHolds(): void {
    this.#holds.clear()
  }
}
