import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { closeServer } from '../../../scripts/sandbox/http-server.js'

/** One JSON-RPC answer; it has a result or an error. */
export interface RpcReply {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** `hang`: the request is taken and never answered. */
type Intervention = 'close' | 'hang' | { readonly status: number; readonly body: string }

/** A request that is no JSON-RPC call, and its successful answer. */
export interface Exchange {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The JSON body; undefined for a GET. */
  readonly asked: unknown
  readonly answer: Readonly<Record<string, unknown>>
}

/** Stands between the service and the sandbox, and puts other words into the outside's mouth. */
export interface OutsideProxy {
  readonly url: string
  /** What happens to a request for this path with this body instead of being forwarded; undefined lets it pass. */
  intervene: ((path: string, body: string) => Intervention | undefined) | undefined
  /** Changes the answer to one JSON-RPC call. */
  alter: ((method: string, params: readonly unknown[], reply: RpcReply) => RpcReply) | undefined
  /** Sees the answer to everything else, and may put another one in its place. */
  reword: ((exchange: Exchange) => unknown) | undefined
  close(): Promise<void>
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

export async function startOutsideProxy(target: string): Promise<OutsideProxy> {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/'
    const asked = await text(request)
    const intervention = proxy.intervene?.(path, asked)
    if (intervention === 'hang') return
    if (intervention === 'close') return void response.destroy()
    if (intervention !== undefined) return void response.writeHead(intervention.status).end(intervention.body)
    const answer = await fetch(new URL(path, target), {
      method: request.method ?? 'GET',
      ...(asked === '' ? {} : { body: asked }),
    })
    const answered = await answer.text()
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(answer.ok ? told(request, asked, answered) : answered)
  }
  function told({ url: path = '/', headers }: IncomingMessage, asked: string, answered: string): string {
    if (path === '/') return JSON.stringify(altered(JSON.parse(asked), JSON.parse(answered)))
    if (proxy.reword === undefined) return answered
    const question = asked === '' ? undefined : JSON.parse(asked)
    return JSON.stringify(proxy.reword({ path, headers, asked: question, answer: JSON.parse(answered) }))
  }
  function altered(asked: Call | Call[], answered: RpcReply | RpcReply[]): unknown {
    if (proxy.alter === undefined) return answered
    if (!Array.isArray(asked))
      return Array.isArray(answered) ? answered : proxy.alter(asked.method, asked.params, answered)
    if (!Array.isArray(answered)) return answered
    return answered.map((reply) => {
      const call = asked.find(({ id }) => id === reply.id)
      return (call && proxy.alter?.(call.method, call.params, reply)) ?? reply
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: OutsideProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intervene: undefined,
    alter: undefined,
    reword: undefined,
    close: () => closeServer(server),
  }
  return proxy
}
