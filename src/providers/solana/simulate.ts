import { VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import type { AccountChange, Instruction, Simulation } from '../../ports/chain.js'
import { accountReply, accountState, readAccounts } from './account-state.js'
import { documented, type JsonRpc } from './json-rpc.js'
import { readLookupTables } from './lookup-tables.js'

/** JSON-RPC code for invalid params: the bytes are not a transaction, for any node. */
const invalidParams = -32602
/** Maximum number of accounts in one request. */
const maxAccounts = 100

const simulationReply = z.object({
  value: z.object({ err: z.unknown().optional(), accounts: z.array(accountReply).nullish() }),
})

export async function simulate(rpc: JsonRpc, transaction: Uint8Array): Promise<Simulation | undefined> {
  const decoded = decode(transaction)
  if (decoded === undefined) return undefined
  const tables = await readLookupTables(
    rpc,
    decoded.message.addressTableLookups.map(({ accountKey }) => accountKey.toBase58()),
  )
  const named = namedAccounts(decoded, tables)
  if (named === undefined || named.writable.length > maxAccounts) return undefined
  const effect = await simulateEffect(rpc, transaction, named.writable)
  if (effect === undefined) return undefined
  const { staticAccountKeys, header } = decoded.message
  return {
    signers: staticAccountKeys.slice(0, header.numRequiredSignatures).map((key) => key.toBase58()),
    instructions: instructionsOf(decoded, named.all),
    ...effect,
  }
}

function decode(transaction: Uint8Array): VersionedTransaction | undefined {
  try {
    return VersionedTransaction.deserialize(transaction)
  } catch {
    return undefined
  }
}

interface NamedAccounts {
  readonly all: readonly string[]
  readonly writable: readonly string[]
}

/** Every account, in the order of instruction indexes; undefined when an entry of a lookup table is missing. */
function namedAccounts(
  { message }: VersionedTransaction,
  tables: ReadonlyMap<string, readonly string[]>,
): NamedAccounts | undefined {
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

interface Effect {
  readonly failed: boolean
  readonly changes: ReadonlyMap<string, AccountChange>
}

async function simulateEffect(
  rpc: JsonRpc,
  transaction: Uint8Array,
  addresses: readonly string[],
): Promise<Effect | undefined> {
  const [before, after] = await Promise.all([
    readAccounts(rpc, addresses),
    callSimulate(rpc, transaction, addresses),
  ])
  if (after === undefined) return undefined
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

/** Undefined when the node does not accept the bytes as a transaction. */
async function callSimulate(rpc: JsonRpc, transaction: Uint8Array, addresses: readonly string[]) {
  const how = {
    commitment: 'confirmed',
    encoding: 'base64',
    sigVerify: false,
    // The transaction's blockhash may be one that this node has not seen yet.
    replaceRecentBlockhash: true,
    accounts: { encoding: 'base64', addresses },
  }
  try {
    const base64 = Buffer.from(transaction).toString('base64')
    const { value } = await rpc.call('simulateTransaction', [base64, how], documented(simulationReply))
    if (value.err == null && value.accounts?.length !== addresses.length)
      throw new ProviderError('ambiguous', 'the RPC answered a simulation without its accounts')
    return value
  } catch (error) {
    if (error instanceof ProviderError && error.code === invalidParams) return undefined
    throw error
  }
}
