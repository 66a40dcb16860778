import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { z } from 'zod'

/** A request to a stand-in with its whole body. */
export interface SandboxRequest {
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
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

/** A fault of the request, answered as JSON with this status. */
export class RequestError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Longer than any client waits. */
const hangMs = 300_000

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

/** The parsed body; undefined when it is not JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** A control: does what the body says, and answers that it was done. */
export function control<Schema extends z.ZodType>(
  schema: Schema,
  act: (given: z.output<Schema>, request: SandboxRequest) => void,
): Route {
  return (request) => {
    act(readControl(schema, request), request)
    return json(200, { success: true })
  }
}

/** The body of a control. Throws RequestError 400. */
export function readControl<Schema extends z.ZodType>(
  schema: Schema,
  { body }: SandboxRequest,
): z.output<Schema> {
  const refuse = (message: string, field: string) => new RequestError(400, `${field}: ${message}`)
  return readChecked(schema, parseJson(body), refuse)
}

/**
 * The decoded last segment of the path, which a `*` in a route matches.
 * @throws RequestError 400 when it is not percent-encoded UTF-8
 */
export function lastSegment({ url }: SandboxRequest): string {
  return decoded(url.pathname.split('/').at(-1))
}

/** The decoded segment before the last one, likewise. */
export function innerSegment({ url }: SandboxRequest): string {
  return decoded(url.pathname.split('/').at(-2))
}

function decoded(segment = ''): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new RequestError(400, 'the path is not percent-encoded UTF-8')
  }
}

/** Hangs or resets the connection instead of answering. */
export function leaveUnanswered(response: ServerResponse, how: NoAnswer): void {
  if (how === 'reset') response.socket?.resetAndDestroy()
  else response.setTimeout(hangMs, () => response.destroy())
}

/** Sends an answer. Pages of any origin may read it, as with a public RPC node. */
export function sendAnswer(response: ServerResponse, answer: SandboxAnswer): void {
  response.writeHead(answer.status, {
    ...answer.headers,
    'content-type': answer.type,
    'access-control-allow-origin': '*',
    'access-control-allow-headers': '*',
    'access-control-allow-methods': 'GET, POST, PUT, OPTIONS',
  })
  response.end(answer.body)
}
