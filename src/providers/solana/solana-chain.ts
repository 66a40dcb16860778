import { z } from 'zod'
import { solMint } from '../../kernel/tokens.js'
import type { Blockhash, Chain, ChainTransaction, TransferAccounts } from '../../ports/chain.js'
import { accountState, readAccounts } from './account-state.js'
import { BatchSize, inAdaptiveBatches } from './adaptive-batching.js'
import { associatedAccount, buildTransfer } from './build-transfer.js'
import { decodeTransaction } from './decode-transaction.js'
import { readSignatures } from './find-signatures.js'
import { createJsonRpc, documented, type JsonRpc, type JsonRpcOptions, waitedForMs } from './json-rpc.js'
import { readLookupTables } from './lookup-tables.js'
import { simulate } from './simulate.js'
import { createStatusReader, readVanished } from './statuses.js'

export interface SolanaOptions extends JsonRpcOptions {
  /** Most signatures of one `getSignatureStatuses` (a node takes 256). */
  readonly statusBatch: number
  /** Most `getTransaction` calls of one HTTP request. */
  readonly transactionBatch: number
}

/** A blockhash is good for 150 slots (a minute); one second of it saves a call per intent. */
const blockhashMs = 1000

const blockhashReply = z.object({
  value: z.object({ blockhash: z.string(), lastValidBlockHeight: z.number() }),
})
const heightReply = z.number().int()
const accountsReply = z.object({ value: z.array(z.object({ lamports: z.number() }).nullable()) })

/** The chain over JSON-RPC. Reads only: the service never submits a transaction. */
export function createSolanaChain(options: SolanaOptions): Chain {
  const rpc = createJsonRpc(options)
  // What a transaction is built from is asked while a supporter waits, the rest by workers.
  const waitedFor = createJsonRpc({ ...options, timeoutMs: waitedForMs })
  const statusSize = new BatchSize(options.statusBatch)
  const transactionSize = new BatchSize(options.transactionBatch)
  const lookupSize = new BatchSize(options.transactionBatch)
  const readLatest = () => readBlockhash(waitedFor, 'confirmed')
  const keptBlockhash = cachedFor(blockhashMs, readLatest)
  const finalBlockhash = cachedFor(blockhashMs, () => readBlockhash(waitedFor, 'finalized'))
  const readStatuses = createStatusReader(rpc)
  /** The height last read. */
  let height = 0
  return {
    async statuses(signatures) {
      return new Map(await inAdaptiveBatches(signatures, statusSize, readStatuses))
    },
    async vanished(landed) {
      return new Set(await inAdaptiveBatches(landed, statusSize, (batch) => readVanished(rpc, batch)))
    },
    async signaturesFor(keys) {
      return new Map(
        (await inAdaptiveBatches(keys, lookupSize, (batch) => readSignatures(rpc, batch))).flat(),
      )
    },
    async transactions(signatures) {
      return new Map(
        (
          await inAdaptiveBatches(signatures, transactionSize, (batch) => readTransactions(rpc, batch))
        ).flat(),
      )
    },
    async latestBlockhash() {
      const kept = await keptBlockhash()
      // After a pause of the chain or of this process the one that was kept may have expired already.
      return kept.lastValidBlockHeight < height ? readLatest() : kept
    },
    heightFloor: async () => (await finalBlockhash()).lastValidBlockHeight,
    async blockHeight() {
      height = await waitedFor.call('getBlockHeight', [{ commitment: 'confirmed' }], documented(heightReply))
      return height
    },
    transferAccounts: (mint, recipient, treasury) =>
      readTransferAccounts(waitedFor, mint, recipient, treasury),
    buildTransfer,
    tokenAccounts: (addresses) => readTokenAccounts(waitedFor, addresses),
    lookupTables: (keys) => readLookupTables(waitedFor, keys),
    simulate: (transaction) => simulate(waitedFor, transaction),
    associatedAccount,
  }
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

async function readBlockhash(rpc: JsonRpc, commitment: 'confirmed' | 'finalized'): Promise<Blockhash> {
  return (await rpc.call('getLatestBlockhash', [{ commitment }], documented(blockhashReply))).value
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
  const { value } = await rpc.call('getMultipleAccounts', [addresses, how], documented(accountsReply))
  const lamportsOf = (index: number): bigint => BigInt(value[index]?.lamports ?? 0)
  return {
    recipientLamports: lamportsOf(0),
    treasuryLamports: lamportsOf(1),
    treasuryTokenAccount: sol || value[2] != null,
  }
}

async function readTokenAccounts(rpc: JsonRpc, addresses: readonly string[]): Promise<Set<string>> {
  const accounts = await readAccounts(rpc, addresses)
  return new Set(addresses.filter((_, index) => accountState(accounts[index])?.holding !== undefined))
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
