import { once } from 'node:events'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import type { LedgerRecord } from '../ledger.js'
import type { LocalChain } from '../local-chain.js'
import { RpcError } from './error.js'
import { commitmentConfig, requestedCommitment, method as rpcMethod, signature } from './params.js'
import { errorAnswer, type RpcServer } from './server.js'

const messageBytesMax = 100_000
const subscriptionsMax = 1_000
const notifyMsMin = 20
const closeMsMax = 500

const requestSchema = z.object({
  id: z.unknown(),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})
type Request = z.output<typeof requestSchema>
/** Finds the transaction once it has the wanted commitment. */
type Subscription = () => LedgerRecord | undefined
type Subscriptions = Map<number, Subscription>

/** The JSON-RPC pubsub server. It has the subscription with which web3.js confirms a transaction, and no other. */
export class PubSub {
  readonly #server: WebSocketServer
  readonly #rpc: RpcServer
  readonly #open: (params: readonly unknown[]) => Subscription
  readonly #clients = new Map<WebSocket, Subscriptions>()
  readonly #timer: NodeJS.Timeout | undefined
  readonly #stopListening: () => void
  #nextId = 1

  private constructor(server: WebSocketServer, chain: LocalChain, rpc: RpcServer) {
    this.#server = server
    this.#rpc = rpc
    this.#open = rpcMethod(z.tuple([signature, commitmentConfig.optional()]), (text, options = {}) => {
      return () => chain.ledger.visible(text, requestedCommitment(options))
    })
    server.on('connection', (socket) => this.#accept(socket))
    this.#stopListening = chain.onChange(() => this.#notify())
    const { slotMs } = chain.clock
    // A clock that moves only with `advance` reports each step through `onChange`.
    this.#timer =
      slotMs > 0 ? setInterval(() => this.#notify(), Math.max(notifyMsMin, slotMs / 2)) : undefined
  }

  /** Listens on this port. Rejects with the socket's error when it is taken. */
  static async listen(port: number, host: string, chain: LocalChain, rpc: RpcServer): Promise<PubSub> {
    const server = new WebSocketServer({ port, host, maxPayload: messageBytesMax })
    await once(server, 'listening')
    return new PubSub(server, chain, rpc)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopListening()
    // After a normal closure (1000) web3.js does not reconnect to the closed port.
    for (const socket of this.#clients.keys()) socket.close(1000)
    const timer = setTimeout(() => {
      for (const socket of this.#clients.keys()) socket.terminate()
    }, closeMsMax)
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    clearTimeout(timer)
  }

  #accept(socket: WebSocket): void {
    const subscriptions: Subscriptions = new Map()
    this.#clients.set(socket, subscriptions)
    socket.on('close', () => this.#clients.delete(socket))
    // A broken or oversized message closes the socket.
    socket.on('error', () => socket.terminate())
    socket.on('message', (data) => {
      const request = parseRequest(data)
      if (!request) send(socket, errorAnswer(null, -32700, 'Parse error'))
      // A request without an id is a notification (web3.js sends "ping") and gets no answer.
      else if (request.id !== undefined) this.#answer(socket, subscriptions, request)
    })
  }

  #answer(socket: WebSocket, subscriptions: Subscriptions, request: Request): void {
    const { id, method, params } = request
    try {
      if (/^\w+Unsubscribe$/.test(method)) {
        send(socket, { jsonrpc: '2.0', id, result: subscriptions.delete(Number(params[0])) })
      } else if (/^\w+Subscribe$/.test(method)) {
        const result = this.#subscribe(subscriptions, request)
        send(socket, { jsonrpc: '2.0', id, result })
        this.#notify()
      } else {
        send(socket, this.#rpc.call(request))
      }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      send(socket, errorAnswer(id, error.code, error.message))
    }
  }

  #subscribe(subscriptions: Subscriptions, { method, params }: Request): number {
    if (method !== 'signatureSubscribe') throw new RpcError(-32601, 'Method not found')
    if (subscriptions.size >= subscriptionsMax) throw new RpcError(-32602, 'Too many subscriptions')
    const number = this.#nextId++
    subscriptions.set(number, this.#open(params))
    return number
  }

  #notify(): void {
    for (const [socket, subscriptions] of this.#clients) {
      for (const [number, subscription] of subscriptions) {
        const record = subscription()
        if (record === undefined) continue
        const result = { context: { slot: record.slot }, value: { err: record.meta.err } }
        const params = { result, subscription: number }
        send(socket, { jsonrpc: '2.0', method: 'signatureNotification', params })
        subscriptions.delete(number)
      }
    }
  }
}

function send(socket: WebSocket, message: unknown): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}

function parseRequest(data: RawData): Request | undefined {
  try {
    return requestSchema.safeParse(JSON.parse(String(data))).data
  } catch {
    return undefined
  }
}
