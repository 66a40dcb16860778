import { z } from 'zod'
import { Recent } from '../../platform/recent.js'
import { createSemaphore } from '../../platform/semaphore.js'
import type { DomainRecord, Names } from '../../ports/names.js'
import {
  createJsonRpc,
  documented,
  type JsonRpc,
  type JsonRpcOptions,
  waitedForMs,
} from '../solana/json-rpc.js'
import { domainKeys } from './domain-keys.js'
import { judgeDomain, type NameAccount, readBytes } from './verify-domain.js'

/** An answer stands for a minute. Also the answer that there is no such domain. */
const keepMs = 60_000
const mostKept = 10_000
/** Strangers decide which domains are asked for: so many questions at once, so many waiting. */
const atOnce = { running: 8, waiting: 200 } as const

const accountsReply = z.object({
  value: z
    .array(z.object({ owner: z.string(), data: z.tuple([z.base64(), z.string()]) }).nullable())
    .length(4),
})

/** `.sol` domains of the Solana Name Service, read from its accounts by JSON-RPC: one question per domain. */
export function createSnsNames(options: Omit<JsonRpcOptions, 'timeoutMs'>): Names {
  const rpc = createJsonRpc({ ...options, timeoutMs: waitedForMs })
  const limit = createSemaphore(atOnce)
  const recent = new Recent<DomainRecord | undefined>({ keepMs, most: mostKept })
  const asking = new Map<string, Promise<DomainRecord | undefined>>()

  async function read(domain: string): Promise<DomainRecord | undefined> {
    const record = await limit(() => readDomain(rpc, domain))
    recent.note(domain, record)
    return record
  }
  return {
    read,
    async lookup(domain) {
      const known = recent.get(domain)
      if (known !== undefined) return known.value
      const asked = asking.get(domain) ?? read(domain).finally(() => asking.delete(domain))
      asking.set(domain, asked)
      return asked
    },
    known: (domain) => recent.get(domain)?.value,
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
  return judgeDomain({ registry: at(0), nft: at(1), recordV1: at(2), recordV2: at(3) })
}
