import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Defer } from './closing.js'

const pollMs = 500
const readyMs = 3000
const firstRefusal = 400
/** They are about one connection, and each side has its own. */
const ownHeaders = ['connection', 'keep-alive', 'transfer-encoding']

interface Backend {
  readonly url: string
  ready: boolean
  agent: Agent
}

/** An answer of a process, as it left the proxy. */
export interface PassedAnswer {
  readonly method: string
  readonly path: string
  /** When the request came (epoch ms). */
  readonly at: number
  readonly ms: number
  /** 0: the process broke the connection, or took none. */
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  /** The body of a refusal. */
  readonly text: string
}

interface ProxyOptions {
  /** Without a ready process requests go to all, as with a router that knows no better. */
  readonly passesAlways: boolean
  readonly onAnswer: (answer: PassedAnswer) => void
}

export interface ReverseProxy {
  readonly url: string
  /** How many processes get requests. */
  readyCount(): number
}

/**
 * A reverse proxy that reads `/ready` of each process at an interval, and sends requests to the ready ones in turn, on
 * connections that it keeps. It repeats nothing: what a process does not answer is answered 502.
 */
export async function startReverseProxy(
  urls: readonly string[],
  { passesAlways, onAnswer }: ProxyOptions,
  defer: Defer,
): Promise<ReverseProxy> {
  const backends = urls.map((url): Backend => ({ url, ready: false, agent: new Agent({ keepAlive: true }) }))
  const ready = (): Backend[] => backends.filter((backend) => backend.ready)
  let next = 0
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    const used = passesAlways && ready().length === 0 ? backends : ready()
    next += 1
    const backend = used[next % used.length]
    if (backend === undefined) outgoing.writeHead(503).end('no process is ready')
    else pass(backend, incoming, outgoing, onAnswer)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const watching = new AbortController()
  for (const backend of backends) void watch(backend, watching.signal)
  defer(async () => {
    watching.abort()
    server.close()
    server.closeAllConnections()
    for (const { agent } of backends) agent.destroy()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, readyCount: () => ready().length }
}

async function watch(backend: Backend, signal: AbortSignal): Promise<void> {
  for (; !signal.aborted; await sleep(pollMs)) {
    const isReady = await isReadyAt(backend.url)
    // A process that comes back is another one: connections to the last one are of no use.
    if (isReady && !backend.ready) backend.agent = new Agent({ keepAlive: true })
    backend.ready = isReady
  }
}

function pass(
  { url, agent }: Backend,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  onAnswer: ProxyOptions['onAnswer'],
): void {
  const { method = '', url: path = '/' } = incoming
  const at = Date.now()
  const startedAt = performance.now()
  const note = (status: number, headers: OutgoingHttpHeaders, text: string): void =>
    onAnswer({ method, path, at, ms: performance.now() - startedAt, status, headers, text })
  const passed = request(`${url}${path}`, { method, headers: withoutOwn(incoming.headers), agent })
  passed.on('response', (answer) => {
    const { statusCode = 0, headers } = answer
    outgoing.writeHead(statusCode, withoutOwn(headers))
    answer.pipe(outgoing)
    let refusal = ''
    if (statusCode >= firstRefusal)
      answer.on('data', (bytes: Buffer) => {
        refusal += bytes.toString()
      })
    answer.on('end', () => note(statusCode, headers, refusal))
    answer.on('error', () => outgoing.destroy())
  })
  passed.on('error', (error) => {
    // Who asked has gone: nothing is broken.
    if (outgoing.destroyed) return
    note(0, {}, error.message)
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(502).end(`${url}: ${error.message}`)
  })
  outgoing.on('close', () => passed.destroy())
  incoming.pipe(passed)
}

function withoutOwn(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.includes(name)))
}

/** On a connection of its own, as a router's probes are. */
function isReadyAt(url: string): Promise<boolean> {
  const options = { agent: false, signal: AbortSignal.timeout(readyMs) }
  return new Promise((answer) => {
    request(`${url}/ready`, options, (response) => {
      response.resume()
      answer(response.statusCode === 200)
    })
      .on('error', () => answer(false))
      .end()
  })
}
