import { AddressLookupTableAccount } from '@solana/web3.js'
import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { accountReply } from './account-state.js'
import type { JsonRpc } from './json-rpc.js'

const tablesReply = z.object({ value: z.array(accountReply) })

/** See `Chain.lookupTables`. */
export async function readLookupTables(
  rpc: JsonRpc,
  keys: readonly string[],
): Promise<Map<string, readonly string[]>> {
  if (keys.length === 0) return new Map()
  const how = { commitment: 'confirmed', encoding: 'base64' }
  const reply = tablesReply.safeParse(await rpc.call('getMultipleAccounts', [keys, how]))
  if (!reply.success) throw new ProviderError('ambiguous', 'the RPC did not answer as documented')
  return new Map(
    keys.flatMap((key, index): [string, readonly string[]][] => {
      const addresses = addressesIn(reply.data.value[index]?.data[0])
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
