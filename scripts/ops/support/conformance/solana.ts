import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { encodeBase58 } from '../../../../src/kernel/base58.js'
import { solMint, tokens, usdc } from '../../../../src/kernel/tokens.js'
import { findSignatures } from '../../../../src/providers/solana/find-signatures.js'
import { createJsonRpc, documented } from '../../../../src/providers/solana/json-rpc.js'
import { createSolanaChain, readTransactions } from '../../../../src/providers/solana/solana-chain.js'
import { readStatuses } from '../../../../src/providers/solana/statuses.js'
import { hostOf } from '../doctor/check.js'
import { type Asked, differs, lastExchange, missing, type Questions } from './check.js'

const versions = ['legacy', 0, 1] as const
/** The service asks for as many statuses at once, and for as many transactions. */
const statusBatch = 256
const mostTransactions = 20
/** A blockhash is valid for 150 blocks, and a node may be ahead of the one that told the height. */
const mostAhead = 300

const accountsReply = z.object({ result: z.object({ value: z.array(z.unknown()) }) })
const transactionReplies = z.union([z.array(z.unknown()), z.unknown().transform((one) => [one])])
const versioned = z.object({
  id: z.unknown(),
  result: z.object({
    version: z.union([z.string(), z.number()]),
    transaction: z.tuple([z.string(), z.string()]),
  }),
})

/** Every RPC endpoint. Only reads. `signatures`: transactions that are known to exist there, of the versions to read. */
export function askSolana(asked: Asked, signatures: readonly string[]): Questions | string {
  const { SOLANA_RPC_URLS: urls } = asked
  if (urls === undefined) return 'SOLANA_RPC_URLS is not set'
  return urls.flatMap((url) =>
    questionsOf(url, asked, signatures).map(
      ([name, ask]) => [urls.length === 1 ? name : `${name} (${hostOf(url)})`, ask] as const,
    ),
  )
}

function questionsOf(url: string, asked: Asked, signatures: readonly string[]): Questions {
  const { SOLANA_GENESIS_HASH: genesisHash, TREASURY_WALLET: treasury } = asked
  const options = { urls: [url], genesisHash: undefined, onCall: () => {}, onFailure: () => {} }
  const rpc = createJsonRpc(options)
  const chain = createSolanaChain(options)
  let known = [...signatures]
  let read: Counts = new Map()
  const needKnown = (): readonly string[] =>
    known.length > 0 ? known : missing('no transaction is known: name some with --signature')
  const work = {
    async genesis() {
      const hash = await rpc.call('getGenesisHash', [], documented(z.string()))
      if (genesisHash !== undefined && hash !== genesisHash) differs(`is another chain: ${hash}`)
      return hash
    },
    async blockhash() {
      const { lastValidBlockHeight } = await chain.latestBlockhash()
      const ahead = lastValidBlockHeight - (await chain.blockHeight())
      if (ahead <= 0 || ahead > mostAhead) differs(`a new blockhash is valid for ${ahead} blocks`)
      return `a new blockhash is valid for ${ahead} blocks`
    },
    async signatures() {
      const keys = [...tokens.map(({ mint }) => mint), ...(treasury === undefined ? [] : [treasury])]
      const found = (await findSignatures(rpc, keys)).flat()
      if (found.length !== keys.length) differs(`answers ${found.length} of ${keys.length} calls of a batch`)
      known = [...new Set([...signatures, ...found.flatMap(([, of]) => of)])].slice(0, mostTransactions)
      return `${known.length} signatures of the tokens and the treasury`
    },
    async statuses() {
      const unknown = newSignature()
      const statuses = await readStatuses(rpc, [...needKnown(), unknown])
      if (statuses.get(unknown)?.commitment !== 'none')
        differs('has a status of a transaction that never was')
      const unseen = known.filter((signature) => statuses.get(signature)?.commitment === 'none')
      if (unseen.length > 0) differs(`has no status of ${unseen.length} transactions that it lists`)
      return `${known.length} transactions have landed, an unknown one has not`
    },
    async 'status batch'() {
      const padding = Array.from({ length: statusBatch - known.length }, newSignature)
      await readStatuses(rpc, [...known, ...padding])
      return `${statusBatch} statuses in one call`
    },
    async 'transaction batch'() {
      const found = (await readTransactions(rpc, needKnown())).flat()
      read = countVersions(new Set(found.map(([signature]) => signature)))
      const sent = [...read.values()].reduce((sum, count) => sum + count.sent, 0)
      if (sent !== known.length) differs(`shows ${sent} of ${known.length} transactions`)
      return `${sent} transactions in one request`
    },
  }
  const ofVersion = (version: string) => async () => {
    const { sent, decoded } = read.get(version) ?? missing('none among these: name one with --signature')
    if (decoded < sent) differs(`${sent - decoded} of ${sent} cannot be decoded`)
    return `${sent} decoded`
  }
  const accounts = async () => {
    await chain.walletBalances(treasury ?? missing('TREASURY_WALLET is not set'), [solMint, usdc.mint])
    const { value } = accountsReply.parse(lastExchange().body).result
    if (value.length !== 3) differs(`answers ${value.length} of 3 accounts`)
    return 'balances of SOL, wrapped SOL and USDC'
  }
  return [
    ...Object.entries(work),
    ...versions.map((version) => [`version ${version}`, ofVersion(String(version))] as const),
    ['accounts', accounts],
  ]
}

const newSignature = (): string => encodeBase58(randomBytes(64))

/** By version: how many transactions the node sent, and how many of them the service can read. */
type Counts = ReadonlyMap<string, { readonly decoded: number; readonly sent: number }>

function countVersions(readable: ReadonlySet<string>): Counts {
  const { sent: request, body } = lastExchange()
  const calls = [request].flat() as { id: unknown; params: [string] }[]
  const counts = new Map<string, { decoded: number; sent: number }>()
  for (const reply of transactionReplies.parse(body)) {
    const { id, result } = versioned.safeParse(reply).data ?? {}
    if (result === undefined) continue
    const isRead = readable.has(calls.find((call) => call.id === id)?.params[0] ?? '')
    const { decoded, sent } = counts.get(String(result.version)) ?? { decoded: 0, sent: 0 }
    counts.set(String(result.version), { decoded: decoded + (isRead ? 1 : 0), sent: sent + 1 })
  }
  return counts
}
