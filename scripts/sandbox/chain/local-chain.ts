import { createHash } from 'node:crypto'
import { Keypair } from '@solana/web3.js'
import { ChainClock, type ClockOptions, type Commitment } from './clock.js'
import { executeForLedger, loadAddresses, setClockFor } from './execute.js'
import type { Account, Simulation } from './execution.js'
import { type AccountState, accountState, Journal, type JournalEntry } from './journal.js'
import { Ledger } from './ledger.js'
import { refuseFailure, unexecuted } from './preflight.js'
import { RpcError } from './rpc/error.js'
import { Svm } from './svm.js'
import { decodeTransaction, type WireTransaction } from './wire.js'

export interface ChainOptions extends Omit<ClockOptions, 'genesisTime'> {
  /** Where the ledger is kept; without it the chain lives in memory. */
  readonly journalPath?: string
}

/** Transactions that may wait while landing is held. */
const mempoolMax = 10_000

/** A Solana cluster of one: a real virtual machine with a clock, a ledger and controls for tests. */
export class LocalChain {
  readonly svm = new Svm()
  readonly clock: ChainClock
  readonly ledger: Ledger
  readonly #journal: Journal | undefined
  readonly #listeners = new Set<() => void>()
  #mempool: WireTransaction[] = []
  #holdLanding = false

  constructor(options: ChainOptions) {
    this.#journal = options.journalPath ? new Journal(options.journalPath) : undefined
    const stored = this.#journal?.entries()
    const first = stored?.next().value?.genesis
    const genesis = first ?? { seed: options.seed, genesisTime: Date.now() }
    this.clock = new ChainClock({ ...options, ...genesis })
    this.ledger = new Ledger(this.clock)
    for (const entry of stored ?? []) this.#restore(entry)
    if (!first) this.#journal?.write({ genesis })
  }

  /** A key pair of the sandbox's own, derived from the seed so that it survives restarts. */
  keypair(role: string): Keypair {
    return Keypair.fromSeed(createHash('sha256').update(`${role}|${this.clock.seed}`).digest())
  }

  /** Plants an account without a transaction; one of 0 lamports removes it. */
  setAccount(key: string, account: Account): void {
    this.svm.setAccount(key, account)
    if (!account.executable) this.#journal?.write({ accounts: [accountState(key, account)] })
    this.#changed()
  }

  /**
   * What a transaction would do now.
   * @throws RpcError -32602 when the bytes are no transaction
   */
  simulate(raw: Uint8Array, options: { verifySignatures: boolean; anyBlockhash: boolean }): Simulation {
    const transaction = decodeTransaction(raw)
    const { recentBlockhash } = transaction.parsed.message
    if (!options.anyBlockhash && this.clock.slotOfRecentHash(recentBlockhash) === undefined) {
      return unexecuted('BlockhashNotFound')
    }
    if (this.ledger.get(transaction.signature)) return unexecuted('AlreadyProcessed')
    const loaded = loadAddresses(this.svm, transaction)
    if (typeof loaded === 'string') return unexecuted(loaded)
    setClockFor(this.svm, this.clock, transaction)
    return this.svm.simulate(transaction, options.verifySignatures)
  }

  /**
   * Takes a transaction as a node does and answers its signature. Without preflight an expired or repeated one
   * is dropped in silence, and one that fails is charged and recorded.
   * @throws RpcError -32602 for bytes that are no transaction, -32003 for a bad signature, -32002 for a failed preflight
   */
  submit(raw: Uint8Array, options: { skipPreflight: boolean }): string {
    const transaction = decodeTransaction(raw)
    if (!options.skipPreflight) {
      refuseFailure(this.simulate(raw, { verifySignatures: true, anyBlockhash: false }))
    }
    if (!this.#holdLanding) this.#land(transaction)
    else if (this.#mempool.length < mempoolMax) this.#mempool.push(transaction)
    else throw new RpcError(-32005, `Node is behind: ${mempoolMax} transactions are waiting`)
    return transaction.signature
  }

  advance(slots: number): void {
    this.clock.advance(slots)
    this.#changed()
  }

  /** While on, submitted transactions wait; when switched off they land, or are dropped if they have expired. */
  holdLanding(on: boolean): void {
    this.#holdLanding = on
    if (!on) for (const transaction of this.#mempool.splice(0)) this.#land(transaction)
  }

  /** Forgets the waiting transactions and answers how many there were. */
  dropMempool(): number {
    return this.#mempool.splice(0).length
  }

  holdSignature(signature: string, cap: Commitment | undefined): void {
    this.ledger.hold(signature, cap)
    this.#changed()
  }

  freezeConfirmations(on: boolean): void {
    this.clock.freezeConfirmations(on)
    this.#changed()
  }

  setLags(lags: { confirmLag?: number | undefined; finalizeLag?: number | undefined }): void {
    this.clock.confirmLag = lags.confirmLag ?? this.clock.confirmLag
    this.clock.finalizeLag = lags.finalizeLag ?? this.clock.finalizeLag
    this.#changed()
  }

  /** Lifts every hold; the waiting transactions are forgotten. */
  releaseControls(): void {
    this.dropMempool()
    this.#holdLanding = false
    this.ledger.releaseHolds()
    this.freezeConfirmations(false)
  }

  /** Calls the listener after every change of ledger, accounts or clock; answers how to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#listeners.clear()
    this.#journal?.close()
  }

  #land(transaction: WireTransaction): void {
    const known = this.ledger.get(transaction.signature) !== undefined
    const expired = this.clock.slotOfRecentHash(transaction.parsed.message.recentBlockhash) === undefined
    const loaded = loadAddresses(this.svm, transaction)
    if (known || expired || typeof loaded === 'string') return
    const landed = executeForLedger(this.svm, this.clock, transaction, loaded)
    if (!landed) return
    this.ledger.add(landed.record)
    this.#journal?.write({ transaction: landed.record, accounts: landed.changed })
    this.#changed()
  }

  #restore(entry: JournalEntry): void {
    for (const state of entry.accounts ?? []) this.svm.setAccount(state[0], restoredAccount(state))
    if (!entry.transaction) return
    this.ledger.add(entry.transaction)
    this.clock.moveBeyond(entry.transaction.slot)
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

function restoredAccount([, lamports, owner, data]: AccountState): Account {
  return { lamports: BigInt(lamports), owner, data: Buffer.from(data, 'base64'), executable: false }
}
