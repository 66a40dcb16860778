import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { createSignedTips, type SignedTip, tipSlot } from './signed-tips.js'

/**
 * The RPC node of `npm run bench -- verify`. It answers with signed transactions, each request after 20 to 50 ms, also a
 * batch. `GET /claims` creates the tips and returns what their clients would report.
 */
const tips = Number(process.argv[2])
const treasury = process.argv[3] ?? ''
const port = Number(process.env['PORT'])
const latencyMs = { least: 20, most: 50 } as const
const signed = new Map<string, SignedTip>()

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly [unknown]
}

function answer({ id, method, params: [first] }: Call) {
  if (method === 'getTransaction')
    return { jsonrpc: '2.0', id, result: signed.get(String(first))?.reply ?? null }
  const status = { slot: tipSlot, err: null, confirmationStatus: 'finalized' }
  const value = (first as string[]).map((signature) => (signed.has(signature) ? status : null))
  return { jsonrpc: '2.0', id, result: { context: { slot: tipSlot + 100 }, value } }
}

function createAll(): unknown {
  for (const one of createSignedTips(tips, treasury)) signed.set(one.claim.signature, one)
  return [...signed.values()].map(({ claim }) => claim)
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
