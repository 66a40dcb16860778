import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { tokenPrograms } from './account-state.js'
import { documented, type JsonRpc } from './json-rpc.js'

/** Callers choose the addresses, so the number kept is bounded. */
const cacheOptions = { ttl: 10 * 60_000, max: 10_000 } as const

/** The owners of programs, of their data, and of sysvars. */
const systemOwners = new Set([
  'NativeLoader1111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'Sysvar1111111111111111111111111111111111111',
])

const reply = z.object({
  value: z.array(z.object({ owner: z.string(), executable: z.boolean() }).nullable()).length(1),
})

/** The check of `Chain.isWallet`. A failed call throws and is not remembered. */
export function createWalletCheck(rpc: JsonRpc): (address: string) => Promise<boolean> {
  const cache = new LRUCache<string, boolean>(cacheOptions)
  return async (address) => {
    const known = cache.get(address)
    if (known !== undefined) return known
    const how = { commitment: 'confirmed', encoding: 'base64', dataSlice: { offset: 0, length: 0 } }
    const { value } = await rpc.call('getMultipleAccounts', [[address], how], documented(reply))
    const [account] = value
    const isWallet =
      account == null ||
      !(account.executable || systemOwners.has(account.owner) || tokenPrograms.has(account.owner))
    cache.set(address, isWallet)
    return isWallet
  }
}
