import { VersionedMessage, VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import { blockhashLifetime } from './clock.js'
import { requestAirdrop } from './faucet.js'
import type { LedgerRecord } from './ledger.js'
import type { LocalChain } from './local-chain.js'
import { accountJson } from './rpc-accounts.js'
import { latestBlockhash, withContext } from './rpc-cluster.js'
import { invalidParams, RpcError } from './rpc-error.js'
import {
  anyConfig,
  asked,
  askedSettled,
  binaryEncoding,
  config,
  count,
  decodeBinary,
  encoding,
  key,
  method,
  type RpcMethod,
  signature,
} from './rpc-params.js'
import { transactionJson } from './transaction-json.js'

const statusesMax = 256
const signaturesMax = 1000
const confirmationsMax = 31
const encodedTransactionMax = 1700
const lamportsPerSignature = 5000

const encodedTransaction = z.string().max(encodedTransactionMax, 'encoded transaction too large')
const simulateConfig = config({
  encoding: binaryEncoding.nullish(),
  sigVerify: z.boolean().nullish(),
  replaceRecentBlockhash: z.boolean().nullish(),
  innerInstructions: z.boolean().nullish(),
  accounts: z.object({ addresses: z.array(key).max(100), encoding: encoding.nullish() }).nullish(),
})

/** JSON-RPC methods that send, simulate and look up transactions. */
export function transactionMethods(chain: LocalChain): Record<string, RpcMethod> {
  return {
    requestAirdrop: method(z.tuple([key, count, anyConfig.optional()]), (wallet, lamports) =>
      requestAirdrop(chain, wallet, BigInt(lamports)),
    ),
    sendTransaction: method(
      z.tuple([
        encodedTransaction,
        config({ encoding: binaryEncoding.nullish(), skipPreflight: z.boolean().nullish() }).optional(),
      ]),
      (text, options = {}) =>
        chain.submit(decodeBinary(text, options.encoding ?? 'base58'), {
          skipPreflight: options.skipPreflight === true,
        }),
    ),
    simulateTransaction: method(
      z.tuple([encodedTransaction, simulateConfig.optional()]),
      (text, options = {}) => simulate(chain, text, options),
    ),
    getFeeForMessage: method(
      z.tuple([z.string().max(encodedTransactionMax), anyConfig.optional()]),
      (text, options = {}) => withContext(chain, asked(options), feeOf(chain, text)),
    ),
    getSignatureStatuses: method(
      z.tuple([
        z
          .array(z.unknown())
          .max(statusesMax, `Too many inputs provided; max ${statusesMax}`)
          .pipe(z.array(signature)),
        config({ searchTransactionHistory: z.boolean().nullish() }).optional(),
      ]),
      (signatures, options = {}) =>
        withContext(
          chain,
          'processed',
          signatures.map((text) => {
            const record = chain.ledger.get(text)
            const forgotten = record && chain.clock.slot - record.slot > blockhashLifetime
            return !record || (forgotten && !options.searchTransactionHistory) ? null : status(chain, record)
          }),
        ),
    ),
    getTransaction: method(
      z.tuple([
        signature,
        z
          .preprocess(
            (options) => (typeof options === 'string' ? { encoding: options } : options),
            config({
              encoding: encoding.nullish(),
              maxSupportedTransactionVersion: z.int().min(0).max(255).nullish(),
            }),
          )
          .optional(),
      ]),
      (text, options = {}) => {
        const record = chain.ledger.visible(text, askedSettled(options))
        if (!record) return null
        return transactionJson(
          record,
          options.encoding ?? 'json',
          options.maxSupportedTransactionVersion ?? undefined,
        )
      },
    ),
    getSignaturesForAddress: method(
      z.tuple([
        key,
        config({
          limit: z.int().min(1).max(signaturesMax, `Invalid limit; max ${signaturesMax}`).nullish(),
          before: signature.nullish(),
          until: signature.nullish(),
        }).optional(),
      ]),
      (address, options = {}) => signaturesFor(chain, address, options),
    ),
  }
}

function simulate(chain: LocalChain, text: string, options: Partial<z.output<typeof simulateConfig>>) {
  if (options.sigVerify && options.replaceRecentBlockhash) {
    throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
  }
  const result = chain.simulate(decodeBinary(text, options.encoding ?? 'base58'), {
    verifySignatures: options.sigVerify === true,
    anyBlockhash: options.replaceRecentBlockhash === true,
  })
  if (result.err === 'SignatureFailure')
    throw new RpcError(-32003, 'Transaction signature verification failure')
  const accounts = options.accounts?.addresses.map((address) =>
    accountJson(chain, result.accounts.get(address) ?? chain.svm.account(address), { encoding: 'base64' }),
  )
  return withContext(chain, asked(options), {
    err: result.err,
    logs: result.logs,
    unitsConsumed: result.unitsConsumed,
    returnData: result.returnData,
    innerInstructions: options.innerInstructions ? result.innerInstructions : null,
    fee: result.fee ?? null,
    accounts: accounts ?? null,
    ...(options.replaceRecentBlockhash
      ? { replacementBlockhash: latestBlockhash(chain, asked(options)) }
      : {}),
  })
}

function feeOf(chain: LocalChain, text: string): number | null {
  const message = readMessage(decodeBinary(text, 'base64'))
  if (chain.clock.slotOfRecentHash(message.recentBlockhash) === undefined) return null
  const raw = new VersionedTransaction(message).serialize()
  const { fee } = chain.simulate(raw, { verifySignatures: false, anyBlockhash: false })
  return fee || lamportsPerSignature * message.header.numRequiredSignatures
}

function readMessage(bytes: Uint8Array): VersionedMessage {
  try {
    return VersionedMessage.deserialize(bytes)
  } catch {
    throw invalidParams('failed to deserialize message')
  }
}

function status(chain: LocalChain, record: LedgerRecord) {
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

interface AddressQuery {
  readonly commitment?: 'processed' | 'confirmed' | 'finalized' | null | undefined
  readonly limit?: number | null | undefined
  readonly before?: string | null | undefined
  readonly until?: string | null | undefined
}

function signaturesFor(chain: LocalChain, address: string, query: AddressQuery) {
  const commitment = askedSettled(query)
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
