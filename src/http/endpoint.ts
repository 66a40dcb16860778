import type { Context, Middleware } from 'koa'
import type { z } from 'zod'
import type { ErrorCode } from '../kernel/errors.js'
import { readJsonBody } from './body.js'
import { parseInput } from './input.js'

/**
 * One endpoint, as data: the same description parses requests, describes answers in the OpenAPI document and is
 * what tests validate every answer against.
 */
export interface Endpoint<Input extends z.ZodType, Output extends z.ZodType> {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete'
  /** A segment `:name` is given to the input like a field of that name. */
  readonly path: string
  readonly summary: string
  /** What the caller must present. */
  readonly credential: 'none' | 'session' | 'session-or-token' | 'api-key' | 'sdk-session'
  /** GET and DELETE read the query, the others a JSON body. */
  readonly input: Input
  /** Answered when the body cannot be read at all, or a required field is missing. */
  readonly invalid: ErrorCode
  readonly output: Output
  /** Refusals beyond `invalid`, as the document lists them. */
  readonly errors: readonly ErrorCode[]
  /** Answered instead of `internal_error` when something unexpected happens. */
  readonly internal?: ErrorCode
  /** Set when the answer is a stream of server-sent events of this shape instead of one JSON object. */
  readonly stream?: boolean
  /** Set when `format=csv` answers the same as a CSV file. */
  readonly csv?: boolean
}

/** Returned by a handler that has written another representation of its answer itself, such as a CSV file. */
export const answered = Symbol('answered')

/** An endpoint and the middleware that serves it. A feature's `routes.ts` returns these; `app.ts` mounts them. */
export interface Route {
  readonly endpoint: Endpoint<z.ZodType, z.ZodType>
  readonly middleware: readonly Middleware[]
}

/**
 * Binds an operation to its endpoint: guards first (credentials are checked before the body), then the body or
 * query, then `handle`; what it returns is answered as JSON with `success: true`, unless it has answered itself.
 */
export function route<Input extends z.ZodType, Output extends z.ZodType>(
  endpoint: Endpoint<Input, Output>,
  handle: (
    input: z.output<Input>,
    ctx: Context,
  ) => Promise<Omit<z.output<Output>, 'success'> | typeof answered>,
  guards: readonly Middleware[] = [],
): Route {
  const serve: Middleware = async (ctx) => {
    const answer = await handle(await readInput(endpoint, ctx), ctx)
    if (answer !== answered) ctx.body = { success: true, ...answer }
  }
  return { endpoint, middleware: [noteInternal(endpoint.internal), ...guards, serve] }
}

/** Tells the error middleware, which stands outside of all routes, how this endpoint words its own failure. */
function noteInternal(code: ErrorCode | undefined): Middleware {
  return (ctx, next) => {
    ctx.state['internal'] = code
    return next()
  }
}

/** Binds an endpoint whose handler writes the answer itself, such as a stream. */
export function streamRoute<Input extends z.ZodType, Output extends z.ZodType>(
  endpoint: Endpoint<Input, Output>,
  handle: (input: z.output<Input>, ctx: Context) => Promise<void>,
): Route {
  const serve: Middleware = async (ctx) => {
    const input = await readInput(endpoint, ctx)
    if (ctx.method !== 'HEAD') return handle(input, ctx)
    // A stream without a body would never end, and hold the connection from the next request.
    ctx.status = 200
    ctx.type = 'text/event-stream'
  }
  return { endpoint, middleware: [serve] }
}

async function readInput<Input extends z.ZodType>(
  { method, input, invalid }: Endpoint<Input, z.ZodType>,
  ctx: Context,
): Promise<z.output<Input>> {
  const fromQuery = method === 'get' || method === 'delete'
  const fields = fromQuery ? ctx.query : await readJsonBody(ctx, invalid)
  return parseInput(input, { ...fields, ...pathParameters(ctx) }, invalid)
}

/** What the router found in the path; it decodes them. */
function pathParameters(ctx: Context): Record<string, string> {
  return ctx['params'] ?? {}
}
