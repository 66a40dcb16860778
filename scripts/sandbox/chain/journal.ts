import { JsonLog } from '../json-log.js'
import type { LedgerRecord } from './ledger.js'
import { systemProgram } from './programs.js'
import type { Account } from './vm/svm.js'

/** The identity of a chain. It must survive a restart. */
interface Genesis {
  readonly seed: string
  readonly genesisTime: number
}

/** Key, lamports, owner and data (base64) of an account after a change. Programs are not stored but added at every start. */
export type AccountState = readonly [key: string, lamports: string, owner: string, data: string]

export interface JournalEntry {
  readonly genesis?: Genesis
  readonly transaction?: LedgerRecord
  readonly accounts?: readonly AccountState[]
}

/** The chain on disk: one line per landed transaction with the resulting accounts, so a restart executes nothing again. */
export class Journal extends JsonLog<JournalEntry> {}

export function accountState(key: string, account: Account | undefined): AccountState {
  if (!account) return [key, '0', systemProgram, '']
  return [key, String(account.lamports), account.owner, account.data.toString('base64')]
}
