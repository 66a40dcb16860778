import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { newRequestId } from './request-id.js'

const secondMs = 1000

/** Limits the time for the head and the whole request, against callers that send slowly or never. */
export const serverLimits = {
  headersTimeout: 10 * secondMs,
  requestTimeout: 30 * secondMs,
  connectionsCheckingInterval: 2 * secondMs,
  /** Of an idle connection; longer than the router in front keeps it, or a request may meet its end. */
  keepAliveTimeout: 95 * secondMs,
  maxHeaderSize: 16 * 1024,
} as const satisfies ServerOptions

/**
 * Of a connection on which nothing moves, as of a client that does not read its answer. Node looks twice before it closes one whose
 * answer has moved since the last look. Streams have heartbeats.
 */
const mostIdleMs = 60 * secondMs

/** Includes open streams. Further connections are closed immediately. */
const mostConnections = 20_000

/** The HTTP server of a web process, not listening yet. */
export function createHttpServer(
  listener: RequestListener,
  limits: ServerOptions = serverLimits,
  idleMs = mostIdleMs,
): Server {
  // What Node answers by itself, without a Host and for an unknown Expect, is not JSON.
  const server = createServer({ ...limits, requireHostHeader: false }, (request, response) => {
    // Behind a body of such a request that is not read, Node may leave the next request of the connection unread, too.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    if (request.httpVersion === '1.1' && request.headers.host === undefined) refuse(response)
    else listener(request, response)
  })
  server.maxConnections = mostConnections
  server.timeout = idleMs
  server.on('clientError', answerUnreadable)
  server.on('checkExpectation', (_, response) => refuse(response))
  return server
}

/** What the parser refuses, by the error's code. All else is a bad request. */
const refusals: Readonly<Record<string, readonly [status: number, code: string, error: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'Headers too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'body_too_large', 'Body too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'Request timeout'],
}

function refusalOf(parserCode = '') {
  const [status, code, error] = refusals[parserCode] ?? [400, 'bad_request', 'Bad Request']
  const requestId = newRequestId()
  const body = JSON.stringify({ success: false, error, code, requestId })
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(body.length),
    'X-Request-Id': requestId,
    Connection: 'close',
  }
  return { status, headers, body }
}

function refuse(response: ServerResponse): void {
  const { status, headers, body } = refusalOf()
  response.writeHead(status, headers).end(body)
}

/** Answers, as all other errors are answered, a request that no handler gets to see. */
function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex & { readonly _httpMessage?: ServerResponse },
): void {
  // The answer in progress, as Node's own handler reads it: a second head would be read as its continuation.
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent === true) {
    socket.destroy(error)
    return
  }
  const { status, headers, body } = refusalOf(error.code)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
