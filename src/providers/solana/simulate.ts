import { VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import type { AccountChange, Instruction, Simulation } from '../../ports/chain.js'
import { accountReply, accountState, readAccounts } from './account-state.js'
import { documented, type JsonRpc } from './json-rpc.js'
import { readLookupTables } from './lookup-tables.js'

/** JSON-RPC's invalid params: what was sent is no transaction, whichever node is asked. */
const invalidParams = -32602
/** Accounts one request may ask for. */
const mostAccounts = 100

const simulationReply = z.object({
  value: z.object({ err: z.unknown().optional(), accounts: z.array(accountReply).nullish() }),
})

/** See `Chain.simulate`. */
export async function simulate(rpc: JsonRpc, transaction: Uint8Array): Promise<Simulation | undefined> {
  const read = readTransaction(transaction)
  if (read === undefined) return undefined
  const tables = await readLookupTables(
    rpc,
    read.message.addressTableLookups.map(({ accountKey }) => accountKey.toBase58()),
  )
  const named = namedAccounts(read, tables)
  if (named === undefined || named.writable.length > mostAccounts) return undefined
  const outcome = await compareBalances(rpc, transaction, named.writable)
  if (outcome === undefined) return undefined
  const { staticAccountKeys, header } = read.message
  return {
    signers: staticAccountKeys.slice(0, header.numRequiredSignatures).map((key) => key.toBase58()),
    instructions: instructionsOf(read, named.all),
    ...outcome,
  }
}

function readTransaction(transaction: Uint8Array): VersionedTransaction | undefined {
  try {
    return VersionedTransaction.deserialize(transaction)
  } catch {
    return undefined
  }
}

interface Named {
  readonly all: readonly string[]
  readonly writable: readonly string[]
}

/** Every account in the order instructions count them; undefined when a lookup table does not have one. */
function namedAccounts(
  { message }: VersionedTransaction,
  tables: ReadonlyMap<string, readonly string[]>,
): Named | undefined {
  const own = message.staticAccountKeys.map((key) => key.toBase58())
  const ownWritable = own.filter((_, index) => message.isAccountWritable(index))
  const from = (kind: 'writableIndexes' | 'readonlyIndexes'): (string | undefined)[] =>
    message.addressTableLookups.flatMap((lookup) => {
      const addresses = tables.get(lookup.accountKey.toBase58())
      return lookup[kind].map((index) => addresses?.[index])
    })
  const loadedWritable = from('writableIndexes')
  const loaded = [...loadedWritable, ...from('readonlyIndexes')]
  if (loaded.some((address) => address === undefined)) return undefined
  return {
    all: [...own, ...(loaded as string[])],
    writable: [...ownWritable, ...(loadedWritable as string[])],
  }
}

function instructionsOf({ message }: VersionedTransaction, accounts: readonly string[]): Instruction[] {
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    program: accounts[programIdIndex] ?? '',
    accounts: accountKeyIndexes.map((index) => accounts[index] ?? ''),
    data,
  }))
}

interface Outcome {
  readonly failed: boolean
  readonly changes: ReadonlyMap<string, AccountChange>
}

async function compareBalances(
  rpc: JsonRpc,
  transaction: Uint8Array,
  addresses: readonly string[],
): Promise<Outcome | undefined> {
  const [before, after] = await Promise.all([
    readAccounts(rpc, addresses),
    callSimulate(rpc, transaction, addresses),
  ])
  if (after === undefined || before.length !== addresses.length) return undefined
  const failed = after.err != null
  return {
    failed,
    changes: new Map(
      addresses.map((address, index) => {
        const was = accountState(before[index])
        return [address, { before: was, after: failed ? was : accountState(after.accounts?.[index]) }]
      }),
    ),
  }
}

/** Undefined: the node does not take it for a transaction. */
async function callSimulate(rpc: JsonRpc, transaction: Uint8Array, addresses: readonly string[]) {
  const how = {
    commitment: 'confirmed',
    encoding: 'base64',
    sigVerify: false,
    // The transaction may stand on a block this node has not seen yet.
    replaceRecentBlockhash: true,
    accounts: { encoding: 'base64', addresses },
  }
  try {
    const base64 = Buffer.from(transaction).toString('base64')
    const { value } = await rpc.call('simulateTransaction', [base64, how], documented(simulationReply))
    if (value.err == null && value.accounts?.length !== addresses.length)
      throw new ProviderError('ambiguous', 'the RPC did not tell what a simulation leaves behind')
    return value
  } catch (error) {
    if (error instanceof ProviderError && error.code === invalidParams) return undefined
    throw error
  }
}
