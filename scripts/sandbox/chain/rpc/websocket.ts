import { once } from 'node:events'
import { WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { localhost, parseJson } from '../../http-server.js'
import type { LocalChain } from '../local-chain.js'
import { commitmentConfig, requestedCommitment, signature } from './params.js'
import { errorAnswer, type RpcServer } from './server.js'

const messageBytesMax = 100_000
const lookMs = 20
const closeMsMax = 500

const requestSchema = z.object({
  id: z.unknown(),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})
type Request = z.output<typeof requestSchema>
const subscribed = z.tuple([signature, commitmentConfig.optional()])

/** The JSON-RPC pubsub server. It has the subscription with which web3.js confirms a transaction, and no other. */
export class PubSub {
  readonly #server: WebSocketServer
  readonly #chain: LocalChain
  readonly #rpc: RpcServer
  #nextId = 1

  private constructor(server: WebSocketServer, chain: LocalChain, rpc: RpcServer) {
    this.#server = server
    this.#chain = chain
    this.#rpc = rpc
    server.on('connection', (socket) => this.#accept(socket))
  }

  /** Listens on this port. Rejects with the socket's error when it is taken. */
  static async listen(port: number, chain: LocalChain, rpc: RpcServer): Promise<PubSub> {
    const server = new WebSocketServer({ port, host: localhost, maxPayload: messageBytesMax })
    await once(server, 'listening')
    return new PubSub(server, chain, rpc)
  }

  async close(): Promise<void> {
    // After a normal closure (1000) web3.js does not reconnect to the closed port.
    for (const socket of this.#server.clients) socket.close(1000)
    const timer = setTimeout(() => {
      for (const socket of this.#server.clients) socket.terminate()
    }, closeMsMax)
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    clearTimeout(timer)
  }

  #accept(socket: WebSocket): void {
    const subscriptions = new Map<number, NodeJS.Timeout>()
    socket.on('close', () => {
      for (const timer of subscriptions.values()) clearInterval(timer)
    })
    // A broken or oversized message closes the socket.
    socket.on('error', () => socket.terminate())
    socket.on('message', (data) => {
      const request = requestSchema.safeParse(parseJson(Buffer.from(String(data)))).data
      if (!request) send(socket, errorAnswer(null, -32700, 'Parse error'))
      // A request without an id is a notification (web3.js sends "ping") and gets no answer.
      else if (request.id !== undefined) send(socket, this.#answer(socket, subscriptions, request))
    })
  }

  #answer(socket: WebSocket, subscriptions: Map<number, NodeJS.Timeout>, request: Request): unknown {
    const { id, method, params } = request
    if (method === 'signatureUnsubscribe') {
      const number = Number(params[0])
      clearInterval(subscriptions.get(number))
      return { jsonrpc: '2.0', id, result: subscriptions.delete(number) }
    }
    if (method !== 'signatureSubscribe') return this.#rpc.call(request)
    const wanted = subscribed.safeParse(params)
    if (!wanted.success) return errorAnswer(id, -32602, 'Invalid params: a signature and a commitment')
    const [text, options] = wanted.data
    const number = this.#nextId++
    const look = () => {
      const record = this.#chain.ledger.visible(text, requestedCommitment(options))
      if (record === undefined) return
      clearInterval(subscriptions.get(number))
      subscriptions.delete(number)
      const result = { context: { slot: record.slot }, value: { err: record.meta.err } }
      const shown = { result, subscription: number }
      send(socket, { jsonrpc: '2.0', method: 'signatureNotification', params: shown })
    }
    subscriptions.set(number, setInterval(look, lookMs))
    return { jsonrpc: '2.0', id, result: number }
  }
}

function send(socket: WebSocket, message: unknown): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}
