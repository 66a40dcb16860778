import { createServer, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { solMint } from '../../src/kernel/tokens.js'
import { buildTransfer } from '../../src/providers/chain/transfer.js'

/**
 * A node that has landed so many tips, for `npm run bench -- verify`: real signed transactions, answered after a
 * network's time however many are asked for at once. `GET /claims` tells what a client would have reported.
 */
const tips = Number(process.argv[2])
const port = Number(process.env['PORT'])
const latencyMs = { least: 20, most: 50 } as const
const people = 32
const slot = 1000

interface Landed {
  readonly signature: string
  readonly sender: string
  readonly recipient: string
  readonly referenceKey: string
  readonly net: number
  readonly fee: number
  /** As it was issued, unsigned, base64. */
  readonly issued: string
  readonly reply: unknown
}

function land(
  index: number,
  senders: readonly Keypair[],
  recipients: readonly string[],
  treasury: string,
): Landed {
  const keypair = senders[index % senders.length] as Keypair
  const sender = keypair.publicKey.toBase58()
  const recipient = recipients[index % recipients.length] as string
  const gross = 100_000_000 + index
  const fee = Math.floor(gross / 50)
  const net = gross - fee
  const referenceKey = Keypair.generate().publicKey.toBase58()
  const legs = { net: BigInt(net), fee: BigInt(fee) }
  const issued = buildTransfer({
    mint: solMint,
    decimals: 9,
    sender,
    recipient,
    treasury,
    ...legs,
    referenceKey,
    blockhash: recipient,
  })
  const transaction = VersionedTransaction.deserialize(issued)
  transaction.sign([keypair])
  const keys = transaction.message.staticAccountKeys.map((key) => key.toBase58())
  const moved = new Map([
    [sender, -gross - 5000],
    [recipient, net],
    [treasury, fee],
  ])
  const before = 10 ** 12
  const meta = {
    err: null,
    fee: 5000,
    preBalances: keys.map(() => before),
    postBalances: keys.map((key) => before + (moved.get(key) ?? 0)),
    preTokenBalances: [],
    postTokenBalances: [],
    loadedAddresses: { writable: [], readonly: [] },
  }
  const raw = Buffer.from(transaction.serialize()).toString('base64')
  const reply = {
    slot,
    blockTime: Math.floor(Date.now() / 1000),
    transaction: [raw, 'base64'],
    meta,
    version: 0,
  }
  const signature = encodeBase58(transaction.signatures[0] ?? new Uint8Array())
  return {
    signature,
    sender,
    recipient,
    referenceKey,
    net,
    fee,
    issued: Buffer.from(issued).toString('base64'),
    reply,
  }
}

const treasury = process.argv[3] ?? ''
const senders = Array.from({ length: people }, () => Keypair.generate())
const recipients = Array.from({ length: people }, () => Keypair.generate().publicKey.toBase58())
const landed = Array.from({ length: tips }, (_, index) => land(index, senders, recipients, treasury))
const bySignature = new Map(landed.map((one) => [one.signature, one]))

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly [unknown]
}

function answer({ id, method, params: [first] }: Call) {
  if (method === 'getTransaction')
    return { jsonrpc: '2.0', id, result: bySignature.get(String(first))?.reply ?? null }
  const status = { slot, err: null, confirmationStatus: 'finalized' }
  const value = (first as string[]).map((signature) => (bySignature.has(signature) ? status : null))
  return { jsonrpc: '2.0', id, result: { context: { slot: slot + 100 }, value } }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

async function serve(request: IncomingMessage): Promise<unknown> {
  if (request.url === '/claims') return landed.map(({ reply: _, ...claim }) => claim)
  if (request.method !== 'POST') return {}
  const body: Call | Call[] = JSON.parse(await bodyOf(request))
  await pause(latencyMs.least + Math.random() * (latencyMs.most - latencyMs.least))
  return Array.isArray(body) ? body.map(answer) : answer(body)
}

createServer((request, response) => {
  void serve(request).then((result) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(result)),
  )
}).listen(port, '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
