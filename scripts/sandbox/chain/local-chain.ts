import { createHash } from 'node:crypto'
import { Keypair } from '@solana/web3.js'
import { ChainClock, type ClockOptions, type Commitment } from './clock.js'
import { executeForLedger, loadAddresses, setClockFor } from './execute.js'
import { type AccountState, accountState, Journal, type JournalEntry } from './journal.js'
import { Ledger } from './ledger.js'
import { systemProgram } from './programs.js'
import { RpcError } from './rpc/error.js'
import type { Account, Simulation } from './vm/svm.js'
import { Svm } from './vm/svm.js'
import { errorMessage } from './vm/svm-errors.js'
import { decodeTransaction, type WireTransaction } from './vm/wire-transaction.js'

export interface ChainOptions extends Omit<ClockOptions, 'genesisTime'> {
  /** The journal's file. Without it the chain is in memory. */
  readonly journalPath?: string
}

/** A Solana cluster with one node: a real virtual machine with a clock, a ledger and controls for tests. */
export class LocalChain {
  readonly svm = new Svm()
  readonly clock: ChainClock
  readonly ledger: Ledger
  readonly #journal: Journal | undefined
  readonly #keypairs = new Map<string, Keypair>()
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

  /** A key pair of the sandbox. It is derived from the seed, so it survives restarts. */
  keypair(role: string): Keypair {
    const known = this.#keypairs.get(role)
    if (known !== undefined) return known
    const keypair = Keypair.fromSeed(createHash('sha256').update(`${role}|${this.clock.seed}`).digest())
    this.#keypairs.set(role, keypair)
    return keypair
  }

  /** Writes an account without a transaction: by default an empty one of the system, with its rent. 0 lamports remove it. */
  setAccount(key: string, given: Partial<Account>): void {
    const { data = Buffer.alloc(0), owner = systemProgram } = given
    const { lamports = this.svm.rentExempt(data.length) } = given
    const account = { lamports, owner, data, executable: false }
    this.svm.setAccount(key, account)
    this.#journal?.write({ accounts: [accountState(key, account)] })
  }

  /**
   * Simulates a transaction on the current state.
   * @throws RpcError -32602 when the bytes are not a transaction
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
   * Accepts a transaction as a node does and returns its signature. Without preflight an expired or repeated transaction is
   * dropped without an error, and a failing one is charged and recorded.
   * @throws RpcError -32602 for bytes that are not a transaction, -32003 for a bad signature, -32002 for a failed preflight
   */
  submit(raw: Uint8Array, options: { skipPreflight: boolean }): string {
    const transaction = decodeTransaction(raw)
    if (!options.skipPreflight) {
      refuseFailedSimulation(this.simulate(raw, { verifySignatures: true, anyBlockhash: false }))
    }
    if (!this.#holdLanding) this.#land(transaction)
    else this.#mempool.push(transaction)
    return transaction.signature
  }

  advance(slots: number): void {
    this.clock.advance(slots)
  }

  /** While on, submitted transactions wait. When it is switched off they land, or are dropped when they have expired. */
  holdLanding(on: boolean): void {
    this.#holdLanding = on
    if (!on) for (const transaction of this.#mempool.splice(0)) this.#land(transaction)
  }

  dropMempool(): number {
    return this.#mempool.splice(0).length
  }

  holdSignature(signature: string, cap: Commitment | undefined): void {
    this.ledger.hold(signature, cap)
  }

  freezeConfirmations(on: boolean): void {
    this.clock.freezeConfirmations(on)
  }

  setLags(lags: { confirmLag?: number | undefined; finalizeLag?: number | undefined }): void {
    this.clock.confirmLag = lags.confirmLag ?? this.clock.confirmLag
    this.clock.finalizeLag = lags.finalizeLag ?? this.clock.finalizeLag
  }

  releaseControls(): void {
    this.dropMempool()
    this.#holdLanding = false
    this.ledger.releaseHolds()
    this.freezeConfirmations(false)
  }

  close(): void {
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
  }

  #restore(entry: JournalEntry): void {
    for (const state of entry.accounts ?? []) this.svm.setAccount(state[0], restoredAccount(state))
    if (!entry.transaction) return
    this.ledger.add(entry.transaction)
    this.clock.advancePast(entry.transaction.slot)
  }
}

function restoredAccount([, lamports, owner, data]: AccountState): Account {
  return { lamports: BigInt(lamports), owner, data: Buffer.from(data, 'base64'), executable: false }
}

/** The result of a simulation that failed before the virtual machine ran. */
function unexecuted(err: string): Simulation {
  const nothing = { logs: [], unitsConsumed: 0, innerInstructions: [], returnData: null }
  return { err, ...nothing, fee: undefined, accounts: new Map() }
}

/**
 * Refuses a transaction whose simulation failed, as a node's preflight does.
 * @throws RpcError -32003 for a bad signature, -32002 with the logs for anything else
 */
function refuseFailedSimulation({ err, logs, unitsConsumed }: Simulation): void {
  if (err === null) return
  if (err === 'SignatureFailure') throw new RpcError(-32003, 'Transaction signature verification failure')
  throw new RpcError(-32002, `Transaction simulation failed: ${errorMessage(err)}`, {
    accounts: null,
    err,
    innerInstructions: null,
    logs,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed,
  })
}
