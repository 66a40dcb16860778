import { once } from 'node:events'
import {
  Agent,
  createServer,
  get,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

const readyMs = 3000
const firstRefusal = 400
/** They are about one connection, and each side has its own. */
const ownHeaders = ['connection', 'keep-alive', 'transfer-encoding']

interface Backend {
  readonly url: string
  ready: boolean
  asked: boolean
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
  readonly passesAlways?: boolean
  readonly onAnswer?: (answer: PassedAnswer) => void
}

/**
 * A reverse proxy that reads `/ready` of each process at an interval, and sends requests to the ready ones in turn, on
 * connections that it keeps. It repeats nothing: what a process does not answer is answered 502.
 */
export class ReverseProxy {
  readonly #server: Server
  readonly #backends: readonly Backend[]
  readonly #timer: NodeJS.Timeout
  readonly #options: ProxyOptions
  #next = 0

  private constructor(server: Server, backends: readonly Backend[], pollMs: number, options: ProxyOptions) {
    this.#server = server
    this.#options = options
    this.#backends = backends
    server.on('request', (incoming, outgoing) => this.#pass(incoming, outgoing))
    this.#timer = setInterval(() => void this.#poll(), pollMs)
  }

  static async listen(
    urls: readonly string[],
    pollMs: number,
    options: ProxyOptions = {},
  ): Promise<ReverseProxy> {
    const server = createServer({ keepAliveTimeout: 60_000 })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const backends = urls.map((url) => ({
      url,
      ready: false,
      asked: false,
      agent: new Agent({ keepAlive: true }),
    }))
    return new ReverseProxy(server, backends, pollMs, options)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** How many processes there are. */
  get count(): number {
    return this.#backends.length
  }

  /** How many of them get requests. */
  get readyCount(): number {
    return this.#backends.filter(({ ready }) => ready).length
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#server.close()
    this.#server.closeAllConnections()
    for (const { agent } of this.#backends) agent.destroy()
    await once(this.#server, 'close')
  }

  async #poll(): Promise<void> {
    await Promise.all(
      this.#backends.map(async (backend) => {
        // A late answer must not replace a newer one.
        if (backend.asked) return
        backend.asked = true
        const ready = await isReady(backend.url)
        // A process that comes back is another one: connections to the last one are of no use.
        if (ready && !backend.ready) backend.agent = new Agent({ keepAlive: true })
        backend.ready = ready
        backend.asked = false
      }),
    )
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const ready = this.#backends.filter(({ ready }) => ready)
    const used = ready.length === 0 && this.#options.passesAlways ? this.#backends : ready
    this.#next += 1
    const backend = used[this.#next % used.length]
    if (backend === undefined) {
      outgoing.writeHead(503).end('no process is ready')
      return
    }
    const { method, url: path = '/', headers } = incoming
    const at = Date.now()
    const startedAt = performance.now()
    const note = (status: number, of: OutgoingHttpHeaders, body: string): void =>
      this.#options.onAnswer?.({
        method: method ?? '',
        path,
        at,
        ms: performance.now() - startedAt,
        status,
        headers: of,
        text: body,
      })
    const passed = request(`${backend.url}${path}`, {
      ...(method === undefined ? {} : { method }),
      headers: withoutOwn(headers),
      agent: backend.agent,
    })
    passed.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, withoutOwn(answer.headers))
      answer.pipe(outgoing)
      let refusal = ''
      if ((answer.statusCode ?? 0) >= firstRefusal)
        answer.on('data', (bytes: Buffer) => {
          refusal += bytes.toString()
        })
      answer.on('end', () => note(answer.statusCode ?? 0, answer.headers, refusal))
      answer.on('error', () => outgoing.destroy())
    })
    passed.on('error', (error) => {
      // Who asked has gone: nothing is broken.
      if (outgoing.destroyed) return
      note(0, {}, error.message)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502).end(`${backend.url}: ${error.message}`)
    })
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  }
}

function withoutOwn(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.includes(name)))
}

/** On a connection of its own, as a router's probes are. */
function isReady(url: string): Promise<boolean> {
  return new Promise((answer) => {
    get(`${url}/ready`, { agent: false, timeout: readyMs }, (response) => {
      response.resume()
      answer(response.statusCode === 200)
    })
      .on('timeout', function (this: { destroy(): void }) {
        this.destroy()
      })
      .on('error', () => answer(false))
  })
}
