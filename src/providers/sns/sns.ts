import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { createSemaphore } from '../../platform/semaphore.js'
import { within } from '../../platform/within.js'
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

/** A record, or the fact that there is none. */
interface CachedRecord {
  readonly record: DomainRecord | undefined
  readonly readAtMs: number
}
const cacheOptions = { max: 10_000 } as const
/** How old a record may be that payments use, and one that lists use. */
const paymentAgeMs = 60_000
const listAgeMs = 10 * 60_000
/** How long a list waits for a record. */
const listWaitMs = 2000
/** Anonymous callers choose the domains, so the number of requests is limited. Lists do not hold up payments. */
const requestLimits = { concurrency: 8, maxWaiting: 200 } as const
const listLimits = { concurrency: 4, maxWaiting: 40 } as const

const accountsReply = z.object({
  value: z
    .array(z.object({ owner: z.string(), data: z.tuple([z.base64(), z.string()]) }).nullable())
    .length(4),
})

/** `.sol` domains of the Solana Name Service, read from its accounts over JSON-RPC: one request per domain. */
export function createSnsNames(options: Omit<JsonRpcOptions, 'timeoutMs'>): Names {
  const rpc = createJsonRpc({ ...options, timeoutMs: interactiveTimeoutMs })
  const limit = createSemaphore(requestLimits)
  const limitLists = createSemaphore(listLimits)
  const cache = new LRUCache<string, CachedRecord>(cacheOptions)
  const forPayments = sharedByDomain((domain) => fetch(domain, limit))
  const forLists = sharedByDomain((domain) => fetch(domain, limitLists))

  async function fetch(domain: string, through: typeof limit): Promise<DomainRecord | undefined> {
    const record = await through(() => readDomain(rpc, domain))
    cache.set(domain, { record, readAtMs: performance.now() })
    return record
  }
  function cached(domain: string, longestMs: number): CachedRecord | undefined {
    const entry = cache.get(domain)
    return entry !== undefined && performance.now() - entry.readAtMs < longestMs ? entry : undefined
  }
  return {
    fetch: (domain) => fetch(domain, limit),
    async fetchOrCached(domain) {
      const entry = cached(domain, paymentAgeMs)
      return entry === undefined ? forPayments(domain) : entry.record
    },
    async fetchOrKnown(domain) {
      const entry = cached(domain, listAgeMs)
      if (entry !== undefined) return entry.record
      await within(
        listWaitMs,
        forLists(domain).catch(() => undefined),
      )
      return cache.get(domain)?.record
    },
  }
}

/** Concurrent calls for one domain share a request. */
function sharedByDomain<Result>(
  read: (domain: string) => Promise<Result>,
): (domain: string) => Promise<Result> {
  const inFlight = new Map<string, Promise<Result>>()
  return (domain) => {
    const request = inFlight.get(domain) ?? read(domain).finally(() => inFlight.delete(domain))
    inFlight.set(domain, request)
    return request
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
