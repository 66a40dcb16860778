import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { encodeBase58 } from '../../../../src/kernel/base58.js'
import { solMint, tokens, usdc } from '../../../../src/kernel/tokens.js'
import { findSignatures } from '../../../../src/providers/solana/find-signatures.js'
import { createJsonRpc, documented } from '../../../../src/providers/solana/json-rpc.js'
import { createSolanaChain, readTransactions } from '../../../../src/providers/solana/solana-chain.js'
import { readStatuses } from '../../../../src/providers/solana/statuses.js'
import { hostOf } from '../doctor/check.js'
import { ask, type Check, differs, lastExchange, NotAsked, notAsked } from './check.js'
import type { Asked } from './settings.js'

const versions = ['legacy', 0, 1] as const
/** The service asks for as many statuses at once, and for as many transactions. */
const statusBatch = 256
const mostTransactions = 20
/** A blockhash is valid for 150 blocks, and a node may be ahead of the one that told the height. */
const mostAhead = 300

const names = [
  ...['genesis', 'blockhash', 'signatures', 'statuses', 'status batch', 'transaction batch'],
  ...versions.map((version) => `version ${version}`),
  'accounts',
]

const transactionReplies = z.union([z.array(z.unknown()), z.unknown().transform((one) => [one])])
const versioned = z.object({
  result: z.object({
    version: z.union([z.string(), z.number()]),
    transaction: z.tuple([z.string(), z.string()]),
  }),
})

/** Asks every RPC endpoint. Only reads. `signatures`: transactions that are known to exist there, of the versions to read. */
export async function askSolana(
  { rpcUrls, genesisHash, treasuryWallet }: Asked,
  signatures: readonly string[],
): Promise<Check[]> {
  if (rpcUrls.length === 0) return notAsked('solana', names, 'SOLANA_RPC_URLS is not set')
  const checks: Check[] = []
  for (const url of rpcUrls)
    checks.push(...(await askEndpoint(url, { genesisHash, treasuryWallet, signatures })))
  return checks
}

interface Wanted {
  readonly genesisHash: string | undefined
  readonly treasuryWallet: string | undefined
  readonly signatures: readonly string[]
}

async function askEndpoint(
  url: string,
  { genesisHash, treasuryWallet, signatures }: Wanted,
): Promise<Check[]> {
  const provider = `solana ${hostOf(url)}`
  const options = { urls: [url], genesisHash: undefined, onCall: () => {}, onFailure: () => {} }
  const rpc = createJsonRpc(options)
  const chain = createSolanaChain(options)
  let known = [...signatures]
  let read: ReadonlyMap<string, { decoded: number; sent: number }> = new Map()
  const one = (name: string, work: () => Promise<string>) => ask(provider, name, work)
  return [
    await one('genesis', async () => {
      const hash = await rpc.call('getGenesisHash', [], documented(z.string()))
      if (genesisHash !== undefined && hash !== genesisHash) differs(`is another chain: ${hash}`)
      return hash
    }),
    await one('blockhash', async () => {
      const { lastValidBlockHeight } = await chain.latestBlockhash()
      const ahead = lastValidBlockHeight - (await chain.blockHeight())
      if (ahead <= 0 || ahead > mostAhead) differs(`a new blockhash is valid for ${ahead} blocks`)
      return `a new blockhash is valid for ${ahead} blocks`
    }),
    await one('signatures', async () => {
      const keys = [
        ...tokens.map(({ mint }) => mint),
        ...(treasuryWallet === undefined ? [] : [treasuryWallet]),
      ]
      const found = (await findSignatures(rpc, keys)).flat()
      if (found.length !== keys.length) differs(`answers ${found.length} of ${keys.length} calls of a batch`)
      known = [...new Set([...signatures, ...found.flatMap(([, of]) => of)])].slice(0, mostTransactions)
      return `${known.length} signatures of the tokens and the treasury`
    }),
    await one('statuses', async () => {
      const unknown = newSignature()
      const statuses = await readStatuses(rpc, [...needs(known), unknown])
      if (statuses.get(unknown)?.commitment !== 'none')
        differs('has a status of a transaction that never was')
      const unseen = known.filter((signature) => statuses.get(signature)?.commitment === 'none')
      if (unseen.length > 0) differs(`has no status of ${unseen.length} transactions that it lists`)
      return `${known.length} transactions have landed, an unknown one has not`
    }),
    await one('status batch', async () => {
      const padding = Array.from({ length: statusBatch - known.length }, newSignature)
      await readStatuses(rpc, [...known, ...padding])
      return `${statusBatch} statuses in one call`
    }),
    await one('transaction batch', async () => {
      const found = (await readTransactions(rpc, needs(known))).flat()
      read = countVersions(new Set(found.map(([signature]) => signature)))
      const sent = [...read.values()].reduce((sum, count) => sum + count.sent, 0)
      if (sent !== known.length) differs(`shows ${sent} of ${known.length} transactions`)
      return `${sent} transactions in one request`
    }),
    ...(await inOrder(versions, (version) =>
      one(`version ${version}`, async () => {
        const count = read.get(String(version))
        if (count === undefined) throw new NotAsked('none among these: name one with --signature')
        if (count.decoded < count.sent)
          differs(`${count.sent - count.decoded} of ${count.sent} cannot be decoded`)
        return `${count.sent} decoded`
      }),
    )),
    await one('accounts', async () => {
      if (treasuryWallet === undefined) throw new NotAsked('TREASURY_WALLET is not set')
      await chain.walletBalances(treasuryWallet, [solMint, usdc.mint])
      const { value } = accountsReply.parse(lastExchange().body).result
      if (value.length !== 3) differs(`answers ${value.length} of 3 accounts`)
      return 'balances of SOL, wrapped SOL and USDC'
    }),
  ]
}

const accountsReply = z.object({ result: z.object({ value: z.array(z.unknown()) }) })

const newSignature = (): string => encodeBase58(randomBytes(64))

function needs(known: readonly string[]): readonly string[] {
  if (known.length > 0) return known
  throw new NotAsked('no transaction is known: name some with --signature')
}

/** How many transactions of each version the node sent, and how many of them the service can read. */
function countVersions(decoded: ReadonlySet<string>): Map<string, { decoded: number; sent: number }> {
  const { sent, body } = lastExchange()
  const calls = [sent].flat() as { id: unknown; params: [string] }[]
  const counts = new Map<string, { decoded: number; sent: number }>()
  for (const reply of transactionReplies.parse(body)) {
    const parsed = versioned.safeParse(reply)
    if (!parsed.success) continue
    const call = calls.find(({ id }) => id === (reply as { id?: unknown }).id)
    const version = String(parsed.data.result.version)
    const count = counts.get(version) ?? { decoded: 0, sent: 0 }
    count.sent += 1
    if (call !== undefined && decoded.has(call.params[0])) count.decoded += 1
    counts.set(version, count)
  }
  return counts
}

async function inOrder<Item>(items: readonly Item[], work: (item: Item) => Promise<Check>): Promise<Check[]> {
  const checks: Check[] = []
  for (const item of items) checks.push(await work(item))
  return checks
}
