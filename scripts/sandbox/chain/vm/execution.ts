import type { TransactionError } from './svm-errors.js'

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
