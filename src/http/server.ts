import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'

const secondMs = 1000

/** Limits the time for the head and the whole request, against callers that send slowly or never. */
export const serverLimits = {
  headersTimeout: 10 * secondMs,
  requestTimeout: 30 * secondMs,
  connectionsCheckingInterval: 2 * secondMs,
  maxHeaderSize: 16 * 1024,
} as const satisfies ServerOptions

/** Includes open streams. Further connections are closed immediately. */
const mostConnections = 20_000

/** The HTTP server of a web process, not listening yet. */
export function createHttpServer(listener: RequestListener, limits: ServerOptions = serverLimits): Server {
  const server = createServer({ ...limits }, listener)
  server.maxConnections = mostConnections
  return server
}
