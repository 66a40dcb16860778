import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { solMint } from '../../kernel/tokens.js'
import { BatchSize, inBatches } from './batches.js'
import { decodeTransaction } from './decode.js'
import { createJsonRpc, type JsonRpc, type JsonRpcOptions } from './json-rpc.js'
import type { Blockhash, Chain, ChainTransaction, SignatureStatus, TransferAccounts } from './port.js'
import { associatedAccount, buildTransfer } from './transfer.js'

export interface SolanaOptions extends JsonRpcOptions {
  /** Most signatures of one `getSignatureStatuses` (a node takes 256). */
  readonly statusBatch: number
  /** Most `getTransaction` calls of one HTTP request. */
  readonly transactionBatch: number
}

/** A blockhash is good for 150 slots (a minute); one second of it saves a call per intent. */
const blockhashMs = 1000

const statusesReply = z.object({
  value: z.array(
    z
      .object({
        err: z.unknown().optional(),
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']),
      })
      .nullable(),
  ),
})
const blockhashReply = z.object({
  value: z.object({ blockhash: z.string(), lastValidBlockHeight: z.number() }),
})
const heightReply = z.number().int()
const accountsReply = z.object({ value: z.array(z.object({ lamports: z.number() }).nullable()) })

/** The chain over JSON-RPC. Reads only: the service never submits a transaction. */
export function createSolanaChain(options: SolanaOptions): Chain {
  const rpc = createJsonRpc(options)
  const statusSize = new BatchSize(options.statusBatch)
  const transactionSize = new BatchSize(options.transactionBatch)
  const latestBlockhash = cachedFor(blockhashMs, () => readBlockhash(rpc))
  return {
    async statuses(signatures) {
      return new Map(await inBatches(signatures, statusSize, (batch) => readStatuses(rpc, batch)))
    },
    async transactions(signatures) {
      return new Map(
        (await inBatches(signatures, transactionSize, (batch) => readTransactions(rpc, batch))).flat(),
      )
    },
    latestBlockhash,
    blockHeight: async () =>
      parsed(heightReply, await rpc.call('getBlockHeight', [{ commitment: 'confirmed' }])),
    transferAccounts: (mint, recipient, treasury) => readTransferAccounts(rpc, mint, recipient, treasury),
    buildTransfer,
    associatedAccount,
  }
}

async function readStatuses(
  rpc: JsonRpc,
  signatures: readonly string[],
): Promise<[string, SignatureStatus | undefined][]> {
  const reply = await rpc.call('getSignatureStatuses', [signatures, { searchTransactionHistory: true }])
  const { value } = parsed(statusesReply, reply)
  if (value.length !== signatures.length)
    throw new ProviderError('ambiguous', `the RPC answered ${value.length} of ${signatures.length} statuses`)
  return signatures.map((signature, index) => {
    const status = value[index]
    const known = status && { commitment: status.confirmationStatus, failed: status.err != null }
    return [signature, known ?? undefined]
  })
}

async function readTransactions(
  rpc: JsonRpc,
  signatures: readonly string[],
): Promise<[string, ChainTransaction][][]> {
  // Version 1 is on mainnet since September 2026; a node asked for less refuses such a transaction.
  const how = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 1 }
  const replies = await rpc.batch(
    signatures.map((signature) => ({ method: 'getTransaction', params: [signature, how] })),
  )
  return signatures.map((signature, index) => {
    const transaction = decodeTransaction(signature, replies[index])
    return transaction === undefined ? [] : [[signature, transaction]]
  })
}

async function readBlockhash(rpc: JsonRpc): Promise<Blockhash> {
  return parsed(blockhashReply, await rpc.call('getLatestBlockhash', [{ commitment: 'confirmed' }])).value
}

async function readTransferAccounts(
  rpc: JsonRpc,
  mint: string,
  recipient: string,
  treasury: string,
): Promise<TransferAccounts> {
  const sol = mint === solMint
  const addresses = [recipient, treasury, ...(sol ? [] : [associatedAccount(treasury, mint)])]
  const how = { commitment: 'confirmed', encoding: 'base64', dataSlice: { offset: 0, length: 0 } }
  const { value } = parsed(accountsReply, await rpc.call('getMultipleAccounts', [addresses, how]))
  const lamportsOf = (index: number): bigint => BigInt(value[index]?.lamports ?? 0)
  return {
    recipientLamports: lamportsOf(0),
    treasuryLamports: lamportsOf(1),
    treasuryTokenAccount: sol || value[2] != null,
  }
}

function parsed<Schema extends z.ZodType>(schema: Schema, reply: unknown): z.output<Schema> {
  const result = schema.safeParse(reply)
  if (!result.success) throw new ProviderError('ambiguous', 'the RPC did not answer as documented')
  return result.data
}

/** One read for all who ask within `ms`; a failed read is not kept. */
function cachedFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined
  let until = 0
  return () => {
    if (current !== undefined && performance.now() < until) return current
    until = performance.now() + ms
    current = read()
    current.catch(() => {
      current = undefined
    })
    return current
  }
}
