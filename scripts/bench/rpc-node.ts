import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { solMint } from '../../src/kernel/tokens.js'
import { buildTransfer } from '../../src/providers/solana/build-transfer.js'

/**
 * The RPC node of `npm run bench -- verify`. It answers with signed transactions, each request after 20 to 50 ms, also a
 * batch. `GET /claims` creates the tips, between 32 supporters and 32 creators, and returns what their clients would report. They are
 * signed, but not executed by a chain.
 */
const tips = Number(process.argv[2])
const treasury = process.argv[3] ?? ''
const port = Number(process.env['PORT'])
const latencyMs = { least: 20, most: 50 } as const
/** The slot of all tips. */
const tipSlot = 1000
const people = 32
const networkFee = 5000
const balanceBefore = 10 ** 12

/** A tip as its client reports it, with the data of its payment intent. */
export interface SignedTipClaim {
  readonly signature: string
  readonly sender: string
  readonly recipient: string
  readonly referenceKey: string
  /** Lamports that the recipient received. */
  readonly net: number
  /** Lamports that the treasury received. */
  readonly fee: number
  /** The unsigned transaction of the intent, base64. */
  readonly issued: string
}

/** The results of `getTransaction`, by signature. */
const replies = new Map<string, unknown>()

function createAll(): SignedTipClaim[] {
  const senders = Array.from({ length: people }, () => Keypair.generate())
  const recipients = Array.from({ length: people }, () => Keypair.generate().publicKey.toBase58())
  return Array.from({ length: tips }, (_, n) =>
    createTip(senders[n % people] as Keypair, recipients[n % people] as string, 100_000_000 + n),
  )
}

function createTip(keypair: Keypair, recipient: string, gross: number): SignedTipClaim {
  const sender = keypair.publicKey.toBase58()
  const fee = Math.floor(gross / 50)
  const net = gross - fee
  const referenceKey = Keypair.generate().publicKey.toBase58()
  const issued = buildTransfer({
    mint: solMint,
    decimals: 9,
    sender,
    recipient,
    treasury,
    net: BigInt(net),
    fee: BigInt(fee),
    referenceKey,
    blockhash: recipient,
  })
  const transaction = VersionedTransaction.deserialize(issued)
  transaction.sign([keypair])
  const signature = encodeBase58(transaction.signatures[0] ?? new Uint8Array())
  const moved: Readonly<Record<string, number>> = {
    [sender]: -gross - networkFee,
    [recipient]: net,
    [treasury]: fee,
  }
  const keys = transaction.message.staticAccountKeys.map((key) => key.toBase58())
  replies.set(signature, {
    slot: tipSlot,
    blockTime: Math.floor(Date.now() / 1000),
    transaction: [base64(transaction.serialize()), 'base64'],
    meta: {
      err: null,
      fee: networkFee,
      preBalances: keys.map(() => balanceBefore),
      postBalances: keys.map((key) => balanceBefore + (moved[key] ?? 0)),
      preTokenBalances: [],
      postTokenBalances: [],
      loadedAddresses: { writable: [], readonly: [] },
    },
    version: 0,
  })
  return { signature, sender, recipient, referenceKey, net, fee, issued: base64(issued) }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly [unknown]
}

function answer({ id, method, params: [first] }: Call) {
  if (method === 'getTransaction') return { jsonrpc: '2.0', id, result: replies.get(String(first)) ?? null }
  const status = { slot: tipSlot, err: null, confirmationStatus: 'finalized' }
  const value = (first as string[]).map((signature) => (replies.has(signature) ? status : null))
  return { jsonrpc: '2.0', id, result: { context: { slot: tipSlot + 100 }, value } }
}

async function serve(request: IncomingMessage): Promise<unknown> {
  if (request.url === '/claims') return createAll()
  if (request.method !== 'POST') return {}
  const body: Call | Call[] = JSON.parse(await text(request))
  await pause(latencyMs.least + Math.random() * (latencyMs.most - latencyMs.least))
  return Array.isArray(body) ? body.map(answer) : answer(body)
}

createServer((request, response) => {
  void serve(request).then((result) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(result)),
  )
}).listen(port, '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
