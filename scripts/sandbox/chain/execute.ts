import { AddressLookupTableAccount, AddressLookupTableProgram } from '@solana/web3.js'
import type { ChainClock } from './clock.js'
import { type AccountState, accountState } from './journal.js'
import type { LedgerRecord } from './ledger.js'
import { firstMemoProgram, memoProgram } from './programs.js'
import { readTokenAccount, type TokenBalance } from './token-accounts.js'
import type { Account, Svm } from './vm/svm.js'
import type { WireTransaction } from './vm/wire-transaction.js'

export interface LoadedAddresses {
  readonly writable: readonly string[]
  readonly readonly: readonly string[]
}

const lookupTableProgram = AddressLookupTableProgram.programId.toBase58()
const memoPrograms = new Set([memoProgram, firstMemoProgram])

type Snapshot = readonly (Account | undefined)[]

/** The addresses a transaction loads from lookup tables, or the name of the error that makes it invalid. */
export function loadAddresses(svm: Svm, { parsed }: WireTransaction): LoadedAddresses | string {
  const writable: string[] = []
  const readonly: string[] = []
  for (const lookup of parsed.message.addressTableLookups) {
    const account = svm.account(lookup.accountKey.toBase58())
    if (!account) return 'AddressLookupTableNotFound'
    if (account.owner !== lookupTableProgram) return 'InvalidAddressLookupTableOwner'
    const addresses = tableAddresses(account.data)
    if (!addresses) return 'InvalidAddressLookupTableData'
    const indexes = [...lookup.writableIndexes, ...lookup.readonlyIndexes]
    if (indexes.some((index) => index >= addresses.length)) return 'InvalidAddressLookupTableIndex'
    writable.push(...lookup.writableIndexes.map((index) => addresses[index] ?? ''))
    readonly.push(...lookup.readonlyIndexes.map((index) => addresses[index] ?? ''))
  }
  return { writable, readonly }
}

function tableAddresses(data: Buffer): string[] | undefined {
  try {
    return AddressLookupTableAccount.deserialize(data).addresses.map((address) => address.toBase58())
  } catch {
    return undefined
  }
}

/** Sets the time that programs see while this transaction runs. */
export function setClockFor(svm: Svm, clock: ChainClock, { parsed }: WireTransaction): void {
  const { slot } = clock
  const touchesTables =
    parsed.message.addressTableLookups.length > 0 ||
    parsed.message.staticAccountKeys.some((key) => key.equals(AddressLookupTableProgram.programId))
  svm.setClock(slot, clock.blockTime(slot), touchesTables ? clock.recentHashes() : undefined)
}

/**
 * Executes a transaction, keeps its effects and describes it as a validator does. `undefined`: no fee was charged (bad
 * signature, payer without funds), so a cluster would not record it.
 */
export function executeForLedger(
  svm: Svm,
  clock: ChainClock,
  transaction: WireTransaction,
  loaded: LoadedAddresses,
): { record: LedgerRecord; changed: AccountState[] } | undefined {
  const own = transaction.parsed.message.staticAccountKeys.map((key) => key.toBase58())
  const keys = [...own, ...loaded.writable, ...loaded.readonly]
  const { slot } = clock
  setClockFor(svm, clock, transaction)
  const before = keys.map((key) => svm.account(key))
  const tokensBefore = tokenBalances(svm, before)
  const execution = svm.execute(transaction)
  const after = keys.map((key) => svm.account(key))
  // Lamports move only between accounts of the transaction, so the difference is the fee.
  const fee = lamportsOf(before) - lamportsOf(after)
  if (fee <= 0n) return undefined
  const record: LedgerRecord = {
    signature: transaction.signature,
    slot,
    blockTime: clock.blockTime(slot),
    raw: Buffer.from(transaction.raw).toString('base64'),
    keys,
    memo: memoOf(transaction, keys),
    meta: {
      err: execution.err,
      status: execution.err === null ? { Ok: null } : { Err: execution.err },
      fee: Number(fee),
      preBalances: before.map(balance),
      postBalances: after.map(balance),
      preTokenBalances: tokensBefore,
      postTokenBalances: tokenBalances(svm, after),
      loadedAddresses: loaded,
      innerInstructions: execution.innerInstructions,
      logMessages: execution.logs,
      rewards: [],
      computeUnitsConsumed: execution.unitsConsumed,
      ...(execution.returnData ? { returnData: execution.returnData } : {}),
    },
  }
  return { record, changed: changedAccounts(keys, before, after) }
}

const balance = (account: Account | undefined) => Number(account?.lamports ?? 0n)

function lamportsOf(accounts: Snapshot): bigint {
  return accounts.reduce((sum, account) => sum + (account?.lamports ?? 0n), 0n)
}

function tokenBalances(svm: Svm, accounts: Snapshot): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    const token = readTokenAccount(account, (mint) => svm.account(mint))
    if (!token) return []
    const { mint, owner, programId, uiTokenAmount } = token
    return [{ accountIndex, mint, owner, programId, uiTokenAmount }]
  })
}

function changedAccounts(keys: readonly string[], before: Snapshot, after: Snapshot): AccountState[] {
  return keys.flatMap((key, index) => {
    const [was, is] = [before[index], after[index]]
    const same =
      was?.lamports === is?.lamports &&
      was?.owner === is?.owner &&
      (was?.data.equals(is?.data ?? Buffer.alloc(0)) ?? true)
    return same || is?.executable ? [] : [accountState(key, is)]
  })
}

function memoOf({ parsed }: WireTransaction, keys: readonly string[]): string | null {
  const memos = parsed.message.compiledInstructions
    .filter((instruction) => memoPrograms.has(keys[instruction.programIdIndex] ?? ''))
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`)
  return memos.length > 0 ? memos.join('; ') : null
}
