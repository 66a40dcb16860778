// The only file that uses litesvm. It uses the internal class that takes raw bytes, so the package is pinned to an exact
// version. A Rust panic in it aborts the whole process, so all input is checked before: transactions in
// wire-transaction.ts, keys in keyBytes below.
import {
  type FailedTransactionMetadata,
  LiteSvm,
  Account as NativeAccount,
  Clock as NativeClock,
  FailedTransactionMetadata as NativeFailure,
  type TransactionMetadata,
} from 'litesvm/dist/internal.js'
import { decodeBase58, encodeBase58 } from '../../../../src/kernel/base58.js'
import {
  errorName,
  instructionErrorNames,
  type TransactionError,
  transactionErrorNames,
} from './svm-errors.js'
import type { WireTransaction } from './wire-transaction.js'

export interface Account {
  readonly lamports: bigint
  /** Base58 key of the owning program. */
  readonly owner: string
  /** Empty for programs: their code is large and not needed here. */
  readonly data: Buffer
  readonly executable: boolean
}

interface InnerInstruction {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: string
  readonly stackHeight: number
}

export interface Execution {
  readonly err: TransactionError | null
  readonly logs: readonly string[]
  readonly unitsConsumed: number
  readonly innerInstructions: readonly { index: number; instructions: readonly InnerInstruction[] }[]
  readonly returnData: { programId: string; data: [string, 'base64'] } | null
  /** Lamports. `undefined` when no fee was charged. */
  readonly fee: number | undefined
}

export interface Simulation extends Execution {
  readonly accounts: ReadonlyMap<string, Account>
}

const slotsPerEpoch = 432_000
const neverRent = 2n ** 64n - 1n

/** The Solana virtual machine: accounts, programs and the execution of one transaction at a time. */
export class Svm {
  readonly #native = new LiteSvm()

  constructor() {
    // LocalChain checks duplicates and blockhashes itself, because litesvm accepts only its latest blockhash.
    this.#native.setTransactionHistory(0n)
    this.#native.setBlockhashCheck(false)
    this.#native.setSigverify(true)
    this.#native.withNativeMints()
  }

  /** The current account. `undefined` when it holds no lamports. */
  account(key: string): Account | undefined {
    const account = this.#native.getAccount(keyBytes(key))
    return account && account.lamports() > 0n ? readAccount(account) : undefined
  }

  /** Writes an account. 0 lamports remove it. Throws when a sysvar or program would become invalid. */
  setAccount(key: string, account: Account): void {
    const { lamports, data, owner, executable } = account
    const native = new NativeAccount(lamports, new Uint8Array(data), keyBytes(owner), executable, neverRent)
    this.#native.setAccount(keyBytes(key), native)
  }

  /** Adds a program, an ELF file for the upgradeable loader. Throws when its code does not verify. */
  addProgram(key: string, elf: Uint8Array): void {
    this.#native.addProgram(keyBytes(key), elf)
  }

  /** Every account a program owns, with its key. Scans all accounts. */
  accountsOwnedBy(program: string): { key: string; account: Account }[] {
    return this.#native
      .getProgramAccounts(keyBytes(program))
      .map((found) => ({ key: encodeBase58(found.address), account: readAccount(found.account()) }))
  }

  rentExempt(bytes: number): bigint {
    return this.#native.minimumBalanceForRentExemption(BigInt(bytes))
  }

  /** Sets the time that programs see. `slotHashes` is needed only for transactions that use lookup tables. */
  setClock(slot: number, unixTime: number, slotHashes?: readonly { slot: number; hash: string }[]): void {
    const epoch = BigInt(Math.floor(slot / slotsPerEpoch))
    this.#native.setClock(new NativeClock(BigInt(slot), 0n, epoch, epoch + 1n, BigInt(unixTime)))
    if (slotHashes) {
      this.#native.setSlotHashes(slotHashes.map((entry) => ({ slot: BigInt(entry.slot), hash: entry.hash })))
    }
  }

  execute(transaction: WireTransaction): Execution {
    const result = this.#native.sendVersionedTransaction(transaction.raw)
    return result instanceof NativeFailure ? failure(result) : { err: null, ...outcome(result) }
  }

  simulate(transaction: WireTransaction, verifySignatures: boolean): Simulation {
    this.#native.setSigverify(verifySignatures)
    try {
      const result = this.#native.simulateVersionedTransaction(transaction.raw)
      if (result instanceof NativeFailure) return { ...failure(result), accounts: new Map() }
      const accounts = new Map(
        result.postAccounts().map((post) => [encodeBase58(post.address), readAccount(post.account())]),
      )
      return { err: null, ...outcome(result.meta()), accounts }
    } finally {
      this.#native.setSigverify(true)
    }
  }
}

function keyBytes(key: string): Uint8Array {
  const bytes = decodeBase58(key)
  if (bytes?.length !== 32) throw new RangeError(`not a Solana key: ${key.slice(0, 50)}`)
  return bytes
}

function readAccount(account: NativeAccount): Account {
  const executable = account.executable()
  const data = executable ? Buffer.alloc(0) : Buffer.from(account.data())
  return { lamports: account.lamports(), owner: encodeBase58(account.owner()), data, executable }
}

function outcome(meta: TransactionMetadata): Omit<Execution, 'err'> {
  const returned = meta.returnData()
  const data = returned.data()
  return {
    logs: meta.logs(),
    unitsConsumed: Number(meta.computeUnitsConsumed()),
    innerInstructions: innerInstructions(meta),
    returnData:
      data.length === 0
        ? null
        : {
            programId: encodeBase58(returned.programId()),
            data: [Buffer.from(data).toString('base64'), 'base64'],
          },
    fee: chargedFee(meta),
  }
}

function failure(result: FailedTransactionMetadata): Execution {
  return { err: transactionError(result.err()), ...outcome(result.meta()) }
}

function innerInstructions(meta: TransactionMetadata): Execution['innerInstructions'] {
  return meta.innerInstructions().flatMap((calls, index) => {
    if (calls.length === 0) return []
    const instructions = calls.map((call) => {
      const instruction = call.instruction()
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: encodeBase58(instruction.data()),
        stackHeight: call.stackHeight(),
      }
    })
    return [{ index, instructions }]
  })
}

// The fee has no getter in this version, so it is read from the struct's text.
function chargedFee(meta: TransactionMetadata): number | undefined {
  const fee = /fee: (\d+) }\)?$/.exec(meta.toString())?.[1]
  return fee === undefined ? undefined : Number(fee)
}

function transactionError(error: ReturnType<FailedTransactionMetadata['err']>): TransactionError {
  if (typeof error === 'number') return errorName(transactionErrorNames, error)
  if ('err' in error) return { InstructionError: [error.index, instructionError(error.err())] }
  if ('index' in error) return { DuplicateInstruction: error.index }
  const kind = error.constructor.name.replace('TransactionError', '')
  return { [kind]: { account_index: error.accountIndex } }
}

function instructionError(error: number | { code: number } | { msg: string }): TransactionError {
  if (typeof error === 'number') return errorName(instructionErrorNames, error)
  return 'code' in error ? { Custom: error.code } : 'BorshIoError'
}
