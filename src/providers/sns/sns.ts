import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { createSemaphore } from '../../platform/semaphore.js'
import type { DomainRecord, Names } from '../../ports/names.js'
import {
  createJsonRpc,
  documented,
  interactiveTimeoutMs,
  type JsonRpc,
  type JsonRpcOptions,
} from '../solana/json-rpc.js'
import { domainKeys } from './domain-keys.js'
import { type NameAccount, readBytes, verifyDomain } from './verify-domain.js'

/** A record, or the fact that there is none, is cached for a minute. */
const cacheOptions = { ttl: 60_000, max: 10_000 } as const
/** Anonymous callers choose the domains, so the number of requests is limited. */
const requestLimits = { concurrency: 8, maxWaiting: 200 } as const

const accountsReply = z.object({
  value: z
    .array(z.object({ owner: z.string(), data: z.tuple([z.base64(), z.string()]) }).nullable())
    .length(4),
})

/** `.sol` domains of the Solana Name Service, read from its accounts over JSON-RPC: one request per domain. */
export function createSnsNames(options: Omit<JsonRpcOptions, 'timeoutMs'>): Names {
  const rpc = createJsonRpc({ ...options, timeoutMs: interactiveTimeoutMs })
  const limit = createSemaphore(requestLimits)
  const cache = new LRUCache<string, { readonly record: DomainRecord | undefined }>(cacheOptions)
  const inFlight = new Map<string, Promise<DomainRecord | undefined>>()

  async function fetch(domain: string): Promise<DomainRecord | undefined> {
    const record = await limit(() => readDomain(rpc, domain))
    cache.set(domain, { record })
    return record
  }
  return {
    fetch,
    async fetchOrCached(domain) {
      const cached = cache.get(domain)
      if (cached !== undefined) return cached.record
      const request = inFlight.get(domain) ?? fetch(domain).finally(() => inFlight.delete(domain))
      inFlight.set(domain, request)
      return request
    },
    cached: (domain) => cache.get(domain)?.record,
  }
}

async function readDomain(rpc: JsonRpc, domain: string): Promise<DomainRecord | undefined> {
  const { registry, nft, recordV1, recordV2 } = domainKeys(domain)
  const addresses = [registry, nft, recordV1, recordV2].map((key) => key.toBase58())
  const how = { commitment: 'confirmed', encoding: 'base64', dataSlice: { offset: 0, length: readBytes } }
  const { value } = await rpc.call('getMultipleAccounts', [addresses, how], documented(accountsReply))
  const accounts = value.map((account) => account ?? undefined)
  const at = (index: number): NameAccount | undefined => {
    const account = accounts[index]
    return account && { program: account.owner, data: Buffer.from(account.data[0], 'base64') }
  }
  return verifyDomain({ registry: at(0), nft: at(1), recordV1: at(2), recordV2: at(3) })
}
