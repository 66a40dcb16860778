import { z } from 'zod'
import { solMint } from '../../kernel/tokens.js'
import { cachedFor } from '../../platform/cached-for.js'
import type { Chain, ChainTransaction, TransferAccounts } from '../../ports/chain.js'
import { accountState, holdingsOf, readAccounts } from './account-state.js'
import { BatchSize, inAdaptiveBatches } from './adaptive-batching.js'
import { readBlockhash } from './blockhash.js'
import { associatedAccount, buildTransfer } from './build-transfer.js'
import { decodeTransaction } from './decode-transaction.js'
import { readFinalizedEverywhere, readHoldings } from './finalized.js'
import { findSignatures, readSignaturePages, readSignaturesSince } from './find-signatures.js'
import {
  createJsonRpc,
  documented,
  interactiveTimeoutMs,
  type JsonRpc,
  type JsonRpcOptions,
} from './json-rpc.js'
import { readLookupTables } from './lookup-tables.js'
import { simulate } from './simulate.js'
import { createStatusReader, findDropped } from './statuses.js'
import { createWalletCheck } from './wallet-check.js'

/** A blockhash is valid for 150 slots (a minute). Caching it for a second saves a call per intent. */
const blockhashMs = 1000

/** The most signatures that a node accepts in one `getSignatureStatuses`. */
const statusBatch = 256
/** `getTransaction` calls of one HTTP request. A node that takes fewer gets fewer. */
const transactionBatch = 100
/** The most accounts that a node accepts in one `getMultipleAccounts`. */
const accountBatch = 100

const heightReply = z.number().int()

/** The chain over JSON-RPC. Read only: the service never submits a transaction. */
export function createSolanaChain(options: JsonRpcOptions): Chain {
  const rpc = createJsonRpc(options)
  // For requests while a supporter waits for a transaction. Workers use `rpc`.
  const interactive = createJsonRpc({ ...options, timeoutMs: interactiveTimeoutMs })
  const statusSize = new BatchSize(statusBatch)
  const transactionSize = new BatchSize(transactionBatch)
  const lookupSize = new BatchSize(transactionBatch)
  const holdingSize = new BatchSize(accountBatch)
  const heldSize = new BatchSize(accountBatch)
  const readLatest = () => readBlockhash(interactive, 'confirmed')
  const cachedBlockhash = cachedFor(blockhashMs, readLatest)
  const finalBlockhash = cachedFor(blockhashMs, () => readBlockhash(interactive, 'finalized'))
  const readStatuses = createStatusReader(rpc)
  let lastReadHeight = 0
  return {
    async statuses(signatures) {
      return new Map(await inAdaptiveBatches(signatures, statusSize, readStatuses))
    },
    async findDropped(landed) {
      return new Set(await inAdaptiveBatches(landed, statusSize, (batch) => findDropped(rpc, batch)))
    },
    async signaturesFor(keys) {
      return new Map(
        (await inAdaptiveBatches(keys, lookupSize, (batch) => findSignatures(rpc, batch))).flat(),
      )
    },
    async signaturesSince(addresses, since) {
      const found = await inAdaptiveBatches(addresses, lookupSize, (batch) =>
        readSignaturesSince(rpc, batch, since),
      )
      return new Map(found.flat())
    },
    async signaturePages(pages) {
      return new Map(
        (await inAdaptiveBatches(pages, lookupSize, (batch) => readSignaturePages(rpc, batch))).flat(),
      )
    },
    async held(addresses) {
      return new Map(await inAdaptiveBatches(addresses, heldSize, (batch) => readHeld(rpc, batch)))
    },
    async transactions(signatures) {
      return new Map(
        (
          await inAdaptiveBatches(signatures, transactionSize, (batch) => readTransactions(rpc, batch))
        ).flat(),
      )
    },
    finalizedEverywhere: (signatures) => readFinalizedEverywhere(rpc, signatures),
    finalizedHoldings: (accounts, minSlot) => readHoldings(rpc, holdingSize, accounts, minSlot),
    async latestBlockhash() {
      const cached = await cachedBlockhash()
      // After a pause of the chain or of this process the cached one may have expired.
      return cached.lastValidBlockHeight < lastReadHeight ? readLatest() : cached
    },
    minLastValidBlockHeight: async () => (await finalBlockhash()).lastValidBlockHeight,
    async blockHeight() {
      const how = { commitment: 'confirmed' }
      lastReadHeight = await interactive.call('getBlockHeight', [how], documented(heightReply))
      return lastReadHeight
    },
    transferAccounts: (mint, recipient, treasury) =>
      readTransferAccounts(interactive, mint, recipient, treasury),
    buildTransfer,
    isWallet: createWalletCheck(interactive),
    walletBalances: (wallet, mints) => readWalletBalances(interactive, wallet, mints),
    tokenAccounts: (addresses) => readTokenAccounts(interactive, addresses),
    lookupTables: (keys) => readLookupTables(interactive, keys),
    simulate: (transaction) => simulate(interactive, transaction),
    associatedAccount,
  }
}

/** The transactions that the node has, each as a list of one, in one request. */
export async function readTransactions(
  rpc: JsonRpc,
  signatures: readonly string[],
): Promise<[string, ChainTransaction][][]> {
  // Mainnet has version 1 transactions since September 2026. With a lower version a node refuses to return them.
  const how = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 1 }
  const replies = await rpc.batch(
    signatures.map((signature) => ({ method: 'getTransaction', params: [signature, how] })),
  )
  return signatures.map((signature, index) => {
    const transaction = decodeTransaction(signature, replies[index])
    return transaction === undefined ? [] : [[signature, transaction]]
  })
}

async function readTransferAccounts(
  rpc: JsonRpc,
  mint: string,
  recipient: string,
  treasury: string,
): Promise<TransferAccounts> {
  const { addresses, read } = holdingsOf([{ wallet: treasury, mint }])
  const [ofRecipient, ofTreasury, ...held] = await readAccounts(rpc, [recipient, treasury, ...addresses])
  return {
    recipientLamports: BigInt(ofRecipient?.lamports ?? 0),
    treasuryLamports: BigInt(ofTreasury?.lamports ?? 0),
    // Anybody can put SOL at its address, and an issuer can freeze it.
    treasuryTokenAccount: mint === solMint || read(held)[0]?.fault === undefined,
  }
}

async function readWalletBalances(
  rpc: JsonRpc,
  wallet: string,
  mints: readonly string[],
): Promise<Map<string, bigint>> {
  const { addresses, read } = holdingsOf(mints.map((mint) => ({ wallet, mint })))
  const held = read(await readAccounts(rpc, addresses))
  return new Map(mints.map((mint, index) => [mint, held[index]?.amount ?? 0n]))
}

async function readHeld(rpc: JsonRpc, addresses: readonly string[]): Promise<[string, bigint][]> {
  const accounts = await readAccounts(rpc, addresses)
  return addresses.map((address, index) => {
    const { lamports = 0n, holding } = accountState(accounts[index]) ?? {}
    return [address, holding === undefined || holding.mint === solMint ? lamports : holding.amount]
  })
}

async function readTokenAccounts(rpc: JsonRpc, addresses: readonly string[]): Promise<Set<string>> {
  const accounts = await readAccounts(rpc, addresses)
  return new Set(addresses.filter((_, index) => accountState(accounts[index])?.holding !== undefined))
}
