import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'

const secondMs = 1000

/** Against callers that send slowly or never: head and whole request have their time, and it is looked at often. */
export const serverLimits = {
  headersTimeout: 10 * secondMs,
  requestTimeout: 30 * secondMs,
  connectionsCheckingInterval: 2 * secondMs,
  maxHeaderSize: 16 * 1024,
} as const satisfies ServerOptions

/** Open streams included; beyond it new connections are closed at once, and those that are open stay served. */
const mostConnections = 20_000

/** The HTTP server of a web process, not listening yet. */
export function createHttpServer(listener: RequestListener, limits: ServerOptions = serverLimits): Server {
  const server = createServer({ ...limits }, listener)
  server.maxConnections = mostConnections
  return server
}
