import { z } from 'zod'
import { blockhashLifetime } from '../clock.js'
import type { LocalChain } from '../local-chain.js'
import {
  apiVersion,
  config,
  encoding,
  key,
  limitedList,
  method,
  type RpcMethod,
  requestedSettledCommitment,
  signature,
} from './params.js'
import { transactionJson } from './transaction-json.js'

const statusesMax = 256
const signaturesMax = 1000
const confirmationsMax = 31

const statusConfig = config({ searchTransactionHistory: z.boolean().nullish() })
const transactionConfig = z.preprocess(
  (options) => (typeof options === 'string' ? { encoding: options } : options),
  config({ encoding: encoding.nullish(), maxSupportedTransactionVersion: z.int().min(0).max(255).nullish() }),
)
const addressConfig = config({
  limit: z.int().min(1).max(signaturesMax, `Invalid limit; max ${signaturesMax}`).nullish(),
  before: signature.nullish(),
  until: signature.nullish(),
})

export function historyMethods(chain: LocalChain): Record<string, RpcMethod> {
  return {
    getSignatureStatuses: method(
      z.tuple([limitedList(signature, statusesMax), statusConfig.optional()]),
      (signatures, options) => ({
        context: { apiVersion, slot: chain.clock.slot },
        value: signatures.map((text) => statusOf(chain, text, options?.searchTransactionHistory === true)),
      }),
    ),
    getTransaction: method(z.tuple([signature, transactionConfig.optional()]), (text, options = {}) => {
      const record = chain.ledger.visible(text, requestedSettledCommitment(options))
      const version = options.maxSupportedTransactionVersion ?? undefined
      return record ? transactionJson(record, options.encoding ?? 'json', version) : null
    }),
    getSignaturesForAddress: method(z.tuple([key, addressConfig.optional()]), (address, options = {}) =>
      signaturesFor(chain, address, options),
    ),
  }
}

// Without `searchTransactionHistory` a node finds transactions only as long as their blockhash is valid.
function statusOf(chain: LocalChain, text: string, searchHistory: boolean) {
  const record = chain.ledger.get(text)
  if (!record || (!searchHistory && chain.clock.slot - record.slot > blockhashLifetime)) return null
  const confirmationStatus = chain.ledger.commitmentOf(record)
  const confirmations = Math.max(0, Math.min(confirmationsMax, chain.clock.slot - record.slot))
  return {
    slot: record.slot,
    confirmations: confirmationStatus === 'finalized' ? null : confirmations,
    err: record.meta.err,
    status: record.meta.status,
    confirmationStatus,
  }
}

function signaturesFor(chain: LocalChain, address: string, query: Partial<z.output<typeof addressConfig>>) {
  const commitment = requestedSettledCommitment(query)
  const signatures = chain.ledger.signaturesOf(address)
  const end = query.before ? signatures.lastIndexOf(query.before) : signatures.length
  const found = []
  for (let index = end - 1; index >= 0 && found.length < (query.limit ?? signaturesMax); index--) {
    const text = signatures[index] ?? ''
    if (text === query.until) break
    const record = chain.ledger.visible(text, commitment)
    if (record) {
      const { slot, memo, blockTime, meta } = record
      const confirmationStatus = chain.ledger.commitmentOf(record)
      found.push({ signature: text, slot, err: meta.err, memo, blockTime, confirmationStatus })
    }
  }
  return found
}
