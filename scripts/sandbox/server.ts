import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { airdropControl } from './airdrop.js'
import { CallCounter } from './call-counter.js'
import { LocalChain } from './chain/local-chain.js'
import { plantBasics, plantTreasury } from './chain/plant.js'
import { failed, RpcServer } from './chain/rpc-server.js'
import { PubSub } from './chain/websocket.js'
import {
  json,
  RequestError,
  type Route,
  readBody,
  readControl,
  type SandboxAnswer,
  sendAnswer,
} from './exchange.js'
import { PriceFeed } from './prices.js'
import { faultAnswer, RpcFaults, rpcFaultSchema } from './rpc-faults.js'

export interface SandboxOptions {
  /** HTTP; the WebSocket is on the next port, where web3.js looks for it. 0: any two free ones. */
  readonly port: number
  readonly host?: string
  /** Directory of the chain's journal; without it the chain lives in memory. */
  readonly dataDir?: string
  /** Milliseconds per slot (400); 0 is a clock moved by `chain.advance` alone. */
  readonly slotMs?: number
  /** Slots until a transaction is finalized (32). */
  readonly finalizeLag?: number
  /** A wallet to give 1 SOL and its token accounts. */
  readonly treasury?: string
}

export interface Sandbox {
  readonly url: string
  readonly wsUrl: string
  readonly chain: LocalChain
  readonly prices: PriceFeed
  /** What the JSON-RPC endpoint was asked. */
  readonly calls: CallCounter
  /** Makes the JSON-RPC endpoint misbehave. */
  readonly faults: RpcFaults
  close(): Promise<void>
}

const portAttempts = 20
const anyOrigin = 'http://sandbox'

/** Starts the stand-ins. Rejects when a port is taken or the journal cannot be read. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1' } = options
  const chain = new LocalChain({
    seed: 'sandbox',
    slotMs: options.slotMs ?? 400,
    confirmLag: 1,
    finalizeLag: options.finalizeLag ?? 32,
    ...(options.dataDir === undefined ? {} : { journalPath: join(options.dataDir, 'chain.jsonl') }),
  })
  const calls = new CallCounter()
  const faults = new RpcFaults()
  const prices = new PriceFeed()
  const rpc = new RpcServer(chain, (method) => calls.add(method))
  const routes: ReadonlyMap<string, Route> = new Map(
    Object.entries<Route>({
      'GET /health': () => json(200, { status: 'ok' }),
      'POST /': rpcRoute(rpc, faults, calls),
      'GET /price/v3': prices.answer,
      'POST /dev/prices': prices.control,
      'POST /dev/airdrop': airdropControl(chain),
      'POST /dev/rpc-faults': (request) => {
        faults.set(readControl(rpcFaultSchema, request))
        return json(200, { success: true })
      },
      'POST /dev/reset': resetControl({
        prices: () => prices.reset(),
        'rpc-faults': () => faults.clear(),
        'chain-controls': () => chain.releaseControls(),
      }),
    }),
  )
  try {
    plantBasics(chain)
    if (options.treasury !== undefined) plantTreasury(chain, options.treasury)
    const { server, pubSub, port } = await listen(options.port, host, chain, rpc, (request, response) => {
      void serve(routes, request, response)
    })
    const close = async () => {
      await Promise.all([pubSub.close(), closeServer(server)])
      chain.close()
    }
    return {
      url: `http://${host}:${port}`,
      wsUrl: `ws://${host}:${port + 1}`,
      chain,
      prices,
      calls,
      faults,
      close,
    }
  } catch (error) {
    chain.close()
    throw error
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Takes a port and the one after it; where the caller has no wish, tries until both are free. */
async function listen(wanted: number, host: string, chain: LocalChain, rpc: RpcServer, handler: Handler) {
  for (let attempt = 1; ; attempt++) {
    const server = createServer(handler)
    server.listen(wanted, host)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    try {
      return { server, port, pubSub: await PubSub.listen(port + 1, host, chain, rpc) }
    } catch (error) {
      await closeServer(server)
      if (wanted !== 0 || attempt >= portAttempts) throw error
    }
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}

async function serve(
  routes: ReadonlyMap<string, Route>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    sendAnswer(response, await answer(routes, request))
  } catch (error) {
    const status = error instanceof RequestError ? error.status : 500
    const message = error instanceof Error ? error.message : String(error)
    // After an oversized body the connection cannot be used again.
    if (status === 413) response.setHeader('connection', 'close')
    sendAnswer(response, json(status, { success: false, message }))
  }
}

async function answer(routes: ReadonlyMap<string, Route>, request: IncomingMessage): Promise<SandboxAnswer> {
  if (request.method === 'OPTIONS') return { status: 204, type: 'text/plain', body: '' }
  const target = request.url ?? '/'
  if (!URL.canParse(target, anyOrigin)) throw new RequestError(400, 'the request target is no path')
  const url = new URL(target, anyOrigin)
  const route = routes.get(`${request.method} ${url.pathname}`)
  if (!route) throw new RequestError(404, `nothing at ${request.method} ${url.pathname}`)
  return route({ url, body: await readBody(request) })
}

function rpcRoute(rpc: RpcServer, faults: RpcFaults, calls: CallCounter): Route {
  return async ({ body }) => {
    calls.httpRequests += 1
    let parsed: unknown
    try {
      parsed = JSON.parse(body.toString('utf8'))
    } catch {
      return json(200, failed(null, -32700, 'Parse error'))
    }
    const fault = faults.take(parsed)
    if (fault?.delayMs) await delay(fault.delayMs)
    return (fault && faultAnswer(fault, parsed)) ?? json(200, rpc.answer(parsed))
  }
}

/** `POST /dev/reset { what: [...] }`: puts the named stand-ins back to how they started. */
function resetControl(resets: Record<string, () => void>): Route {
  const schema = z.strictObject({ what: z.array(z.enum(Object.keys(resets))).min(1) })
  return (request) => {
    for (const name of readControl(schema, request).what) resets[name]?.()
    return json(200, { success: true })
  }
}
