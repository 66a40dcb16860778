import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import {
  json,
  leaveUnanswered,
  type NoAnswer,
  RequestError,
  type Route,
  type SandboxAnswer,
  sendAnswer,
} from './http-route.js'

const portAttempts = 20
const anyOrigin = 'http://sandbox'

/** Routes by method and path, such as `POST /dev/airdrop`. A `*` as the last segment, or the one before, matches any segment. */
export type Routes = ReadonlyMap<string, Route>

/** Serves the routes on a port. 0: any free port. Rejects with EADDRINUSE when the port is taken. */
export async function listen(port: number, host: string, routes: Routes): Promise<Server> {
  const server = createServer((request, response) => void serve(routes, request, response))
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

/**
 * Serves the routes on a port and starts a companion server on the next port. Port 0: tries until two consecutive ports
 * are free. Rejects with EADDRINUSE when a given port is taken.
 */
export async function listenOnPair<Companion>(
  requestedPort: number,
  host: string,
  routes: Routes,
  startCompanion: (port: number) => Promise<Companion>,
): Promise<{ port: number; server: Server; companion: Companion }> {
  for (let attempt = 1; ; attempt++) {
    const server = await listen(requestedPort, host, routes)
    const { port } = server.address() as AddressInfo
    try {
      return { port, server, companion: await startCompanion(port + 1) }
    } catch (error) {
      await closeServer(server)
      if (requestedPort !== 0 || attempt >= portAttempts) throw error
    }
  }
}

/** Stops a server and closes its connections. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}

async function serve(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const result = await answer(routes, request)
    if (typeof result === 'string') leaveUnanswered(response, result)
    else sendAnswer(response, result)
  } catch (error) {
    const status = error instanceof RequestError ? error.status : 500
    const message = error instanceof Error ? error.message : String(error)
    sendAnswer(response, json(status, { success: false, message }))
  }
}

async function answer(routes: Routes, request: IncomingMessage): Promise<SandboxAnswer | NoAnswer> {
  if (request.method === 'OPTIONS') return { status: 204, type: 'text/plain', body: '' }
  const target = request.url ?? '/'
  if (!URL.canParse(target, anyOrigin)) throw new RequestError(400, 'the request target is no path')
  const url = new URL(target, anyOrigin)
  const route =
    routes.get(`${request.method} ${url.pathname}`) ??
    routes.get(`${request.method} ${url.pathname.replace(/[^/]*$/, '*')}`) ??
    routes.get(`${request.method} ${url.pathname.replace(/[^/]+(\/[^/]*)$/, '*$1')}`)
  if (!route) throw new RequestError(404, `nothing at ${request.method} ${url.pathname}`)
  return route({ url, headers: request.headers, body: await buffer(request) })
}
