import { JsonLog } from '../json-log.js'
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

/** The chain's memory on disk: a line per landed transaction with the resulting accounts, so nothing runs again. */
export class Journal extends JsonLog<JournalEntry> {}

export function accountState(key: string, account: Account | undefined): AccountState {
  if (!account) return [key, '0', systemProgram, '']
  return [key, String(account.lamports), account.owner, account.data.toString('base64')]
}
