import { AddressLookupTableAccount } from '@solana/web3.js'
import { readAccounts } from './account-state.js'
import type { JsonRpc } from './json-rpc.js'

export async function readLookupTables(
  rpc: JsonRpc,
  keys: readonly string[],
): Promise<Map<string, readonly string[]>> {
  if (keys.length === 0) return new Map()
  const tables = await readAccounts(rpc, keys)
  return new Map(
    keys.flatMap((key, index): [string, readonly string[]][] => {
      const addresses = addressesIn(tables[index]?.data[0])
      return addresses === undefined ? [] : [[key, addresses]]
    }),
  )
}

function addressesIn(base64: string | undefined): string[] | undefined {
  if (base64 === undefined) return undefined
  try {
    const { addresses } = AddressLookupTableAccount.deserialize(Buffer.from(base64, 'base64'))
    return addresses.map((address) => address.toBase58())
  } catch {
    return undefined
  }
}
