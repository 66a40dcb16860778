import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Account } from './execution.js'
import type { LedgerRecord } from './ledger.js'
import { systemProgram } from './programs.js'

/** What makes a chain this chain: it must survive a restart. */
interface Genesis {
  readonly seed: string
  readonly genesisTime: number
}

/** Key, lamports, owner and data (base64) of an account after a change. Programs are planted at every start instead. */
export type AccountState = readonly [key: string, lamports: string, owner: string, data: string]

export interface JournalEntry {
  readonly genesis?: Genesis
  readonly transaction?: LedgerRecord
  readonly accounts?: readonly AccountState[]
}

const chunkBytes = 1 << 20
const newline = 10

/**
 * The chain's memory on disk: one JSON line per landed transaction with the resulting accounts, so a restart
 * needs no re-execution. It survives the death of the process, not a power cut (nothing is fsynced).
 */
export class Journal {
  readonly #path: string
  readonly #file: number

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true })
    this.#path = path
    this.#file = openSync(path, 'a')
  }

  /** Every stored entry, oldest first; a last line that a kill has torn is cut off. Read them before writing. */
  *entries(): Generator<JournalEntry, undefined> {
    const file = openSync(this.#path, 'r')
    const chunk = Buffer.alloc(chunkBytes)
    let rest: Buffer = Buffer.alloc(0)
    let whole = 0
    try {
      // In chunks, as a journal may outgrow the longest string.
      for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
        const text = Buffer.concat([rest, chunk.subarray(0, read)])
        const end = text.lastIndexOf(newline) + 1
        for (const line of text.toString('utf8', 0, end).split('\n')) if (line) yield JSON.parse(line)
        rest = text.subarray(end)
        whole += end
      }
    } finally {
      closeSync(file)
    }
    ftruncateSync(this.#file, whole)
  }

  write(entry: JournalEntry): void {
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`)
  }

  close(): void {
    closeSync(this.#file)
  }
}

export function accountState(key: string, account: Account | undefined): AccountState {
  if (!account) return [key, '0', systemProgram, '']
  return [key, String(account.lamports), account.owner, account.data.toString('base64')]
}
