import { AddressLookupTableAccount } from '@solana/web3.js'
import { z } from 'zod'
import { accountReply } from './account-state.js'
import { documented, type JsonRpc } from './json-rpc.js'

const tablesReply = z.object({ value: z.array(accountReply) })

/** See `Chain.lookupTables`. */
export async function readLookupTables(
  rpc: JsonRpc,
  keys: readonly string[],
): Promise<Map<string, readonly string[]>> {
  if (keys.length === 0) return new Map()
  const how = { commitment: 'confirmed', encoding: 'base64' }
  const { value } = await rpc.call('getMultipleAccounts', [keys, how], documented(tablesReply))
  return new Map(
    keys.flatMap((key, index): [string, readonly string[]][] => {
      const addresses = addressesIn(value[index]?.data[0])
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
