import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { type Landed, landedSlot, landTips } from './landed.js'

/**
 * A node that has landed so many tips, for `npm run bench -- verify`: real signed transactions, answered after a
 * network's time however many are asked for at once. `GET /claims` lands them and tells what clients would report.
 */
const tips = Number(process.argv[2])
const treasury = process.argv[3] ?? ''
const port = Number(process.env['PORT'])
const latencyMs = { least: 20, most: 50 } as const
const landed = new Map<string, Landed>()

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly [unknown]
}

function answer({ id, method, params: [first] }: Call) {
  if (method === 'getTransaction')
    return { jsonrpc: '2.0', id, result: landed.get(String(first))?.reply ?? null }
  const status = { slot: landedSlot, err: null, confirmationStatus: 'finalized' }
  const value = (first as string[]).map((signature) => (landed.has(signature) ? status : null))
  return { jsonrpc: '2.0', id, result: { context: { slot: landedSlot + 100 }, value } }
}

function landAll(): unknown {
  for (const one of landTips(tips, treasury)) landed.set(one.claim.signature, one)
  return [...landed.values()].map(({ claim }) => claim)
}

async function serve(request: IncomingMessage): Promise<unknown> {
  if (request.url === '/claims') return landAll()
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
