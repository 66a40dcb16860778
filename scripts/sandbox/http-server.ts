import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { z } from 'zod'

/** A request with its whole body. `param`: the decoded segment that the `*` in the route's path stands for. */
export interface SandboxRequest {
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly param: string
}

export interface SandboxAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** No answer: the connection stays open without data, or is reset. */
export type NoAnswer = 'hang' | 'reset'

export type Route = (request: SandboxRequest) => SandboxAnswer | NoAnswer | Promise<SandboxAnswer | NoAnswer>

/** Routes by method and path, such as `POST /dev/airdrop`. A `*` stands for one segment. */
export type Routes = Readonly<Record<string, Route>>

/** A fault of the request, answered as JSON with this status. */
export class RequestError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Where every stand-in listens. */
export const localhost = '127.0.0.1'
/** Longer than any client waits. */
const hangMs = 300_000
const anyOrigin = 'http://sandbox'
/** Pages of any origin may read every answer, as with a public RPC node. */
const anyReader = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'GET, POST, PUT, OPTIONS',
}

export function json(status: number, value: unknown): SandboxAnswer {
  return { status, type: 'application/json', body: JSON.stringify(value) }
}

/**
 * Checks a value with its schema.
 * @throws what `refuse` makes of the first fault: its text, and the name of the field
 */
export function readChecked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  refuse: (message: string, field: string) => Error,
): z.output<Schema> {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const { path = [], message = 'Invalid' } = checked.error.issues[0] ?? {}
  throw refuse(message, path.join('.'))
}

export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** A control: does what the body says, and answers `success` and what `act` returns. A body that does not fit is answered 400. */
export function control<Schema extends z.ZodType>(
  schema: Schema,
  // biome-ignore lint/suspicious/noConfusingVoidType: most controls have nothing to tell
  act: (given: z.output<Schema>, request: SandboxRequest) => object | void,
): Route {
  const refuse = (message: string, field: string) => new RequestError(400, `${field}: ${message}`)
  return (request) => {
    const given = readChecked(schema, parseJson(request.body), refuse)
    return json(200, { success: true, ...act(given, request) })
  }
}

/** Serves the routes on a port. 0: any free port. Rejects with EADDRINUSE when the port is taken. */
export async function listen(port: number, routes: Routes): Promise<Server> {
  const server = createServer((request, response) => void serve(routes, request, response))
  server.listen(port, localhost)
  await once(server, 'listening')
  return server
}

export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}

async function serve(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const result = await answer(routes, request).catch((error: Error) =>
    json(error instanceof RequestError ? error.status : 500, { success: false, message: error.message }),
  )
  if (result === 'reset') response.socket?.resetAndDestroy()
  else if (result === 'hang') response.setTimeout(hangMs, () => response.destroy())
  else {
    response.writeHead(result.status, { ...result.headers, 'content-type': result.type, ...anyReader })
    response.end(result.body)
  }
}

async function answer(routes: Routes, request: IncomingMessage): Promise<SandboxAnswer | NoAnswer> {
  if (request.method === 'OPTIONS') return { status: 204, type: 'text/plain', body: '' }
  const target = request.url ?? '/'
  if (!URL.canParse(target, anyOrigin)) throw new RequestError(400, 'the request target is no path')
  const url = new URL(target, anyOrigin)
  const { route, param } = findRoute(routes, `${request.method} ${url.pathname}`)
  return route({ url, headers: request.headers, body: await buffer(request), param })
}

function findRoute(routes: Routes, name: string): { route: Route; param: string } {
  const exact = routes[name]
  if (exact !== undefined) return { route: exact, param: '' }
  for (const [pattern, route] of Object.entries(routes)) {
    const [before = '', after] = pattern.split('*')
    if (after === undefined || !name.startsWith(before) || !name.endsWith(after)) continue
    const param = name.slice(before.length, name.length - after.length)
    if (!param.includes('/')) return { route, param: decoded(param) }
  }
  throw new RequestError(404, `nothing at ${name}`)
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new RequestError(400, 'the path is not percent-encoded UTF-8')
  }
}
