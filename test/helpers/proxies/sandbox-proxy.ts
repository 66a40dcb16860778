import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { closeServer } from '../../../scripts/sandbox/http-server.js'

/** One JSON-RPC answer, with a result or an error. */
export interface RpcReply {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** `hang`: the request is accepted and never answered. */
type Intervention = 'close' | 'hang' | { readonly status: number; readonly body: string }

/** A request other than JSON-RPC, with its successful answer. */
export interface ProxiedExchange {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The JSON body; undefined for a GET. */
  readonly requestBody: unknown
  readonly answer: Readonly<Record<string, unknown>>
}

/** A proxy between the service and the sandbox that can change or replace answers. */
export interface SandboxProxy {
  readonly url: string
  /** Decides what happens to a request instead of forwarding it. `undefined` forwards it. A promise holds the request. */
  intervene:
    | ((path: string, body: string) => Intervention | undefined | Promise<Intervention | undefined>)
    | undefined
  /** Changes the answer to one JSON-RPC call. */
  alterReply: ((method: string, params: readonly unknown[], reply: RpcReply) => RpcReply) | undefined
  /** Receives every other request with its answer. What it returns is sent instead. */
  replaceAnswer: ((exchange: ProxiedExchange) => unknown) | undefined
  close(): Promise<void>
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

export async function startSandboxProxy(target: string): Promise<SandboxProxy> {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/'
    const sent = await text(request)
    const intervention = await proxy.intervene?.(path, sent)
    if (intervention === 'hang') return
    if (intervention === 'close') return void response.destroy()
    if (intervention !== undefined) return void response.writeHead(intervention.status).end(intervention.body)
    const { authorization } = request.headers
    const answer = await fetch(new URL(path, target), {
      method: request.method ?? 'GET',
      ...(authorization === undefined ? {} : { headers: { authorization } }),
      ...(sent === '' ? {} : { body: sent }),
    })
    const received = await answer.text()
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(answer.ok ? changedAnswer(request, sent, received) : received)
  }
  function changedAnswer(
    { url: path = '/', headers }: IncomingMessage,
    sent: string,
    received: string,
  ): string {
    if (path === '/') return JSON.stringify(changedReplies(JSON.parse(sent), JSON.parse(received)))
    if (proxy.replaceAnswer === undefined) return received
    const requestBody = sent === '' ? undefined : JSON.parse(sent)
    return JSON.stringify(proxy.replaceAnswer({ path, headers, requestBody, answer: JSON.parse(received) }))
  }
  function changedReplies(calls: Call | Call[], replies: RpcReply | RpcReply[]): unknown {
    if (proxy.alterReply === undefined) return replies
    if (!Array.isArray(calls))
      return Array.isArray(replies) ? replies : proxy.alterReply(calls.method, calls.params, replies)
    if (!Array.isArray(replies)) return replies
    return replies.map((reply) => {
      const call = calls.find(({ id }) => id === reply.id)
      return (call && proxy.alterReply?.(call.method, call.params, reply)) ?? reply
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: SandboxProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intervene: undefined,
    alterReply: undefined,
    replaceAnswer: undefined,
    close: () => closeServer(server),
  }
  return proxy
}
