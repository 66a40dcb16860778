import type { Context, Middleware } from 'koa'
import type { z } from 'zod'
import type { ErrorCode } from '../kernel/errors.js'
import { readJsonBody } from './body.js'
import { parseInput } from './input.js'
import type { Limit } from './limits.js'

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
  /** How often it may be called, and by whom that is counted. */
  readonly limit: Limit<z.output<Input>>
  /** GET and DELETE read the query, the others a JSON body. */
  readonly input: Input
  /** Answered when the body cannot be read at all, or a required field is missing. */
  readonly invalid: ErrorCode
  readonly output: Output
  /** Refusals beyond `invalid`, as the document lists them. */
  readonly errors: readonly ErrorCode[]
  /** Answered instead of `internal_error` when something unexpected happens. */
  readonly internal?: ErrorCode
  /** Set when the answer is a stream of server-sent events of this shape; how many an address may open is limited too. */
  readonly stream?: boolean
  /** Set when `format=csv` answers the same as a CSV file. */
  readonly csv?: boolean
  /** Set when the caller may send an `Idempotency-Key` (http/idempotency.ts). */
  readonly idempotent?: boolean
}

/** Returned by a handler that has written another representation of its answer itself, such as a CSV file. */
export const answered = Symbol('answered')

/** An endpoint and what serves it. A feature's `routes.ts` returns these; `app.ts` mounts them. */
export interface Route {
  readonly endpoint: Endpoint<z.ZodType, z.ZodType>
  /** What stands before the body is read, such as the check of credentials. */
  readonly guards: readonly Middleware[]
  /** Reads the request, has it admitted and answers it. */
  serve(ctx: Context, admit: Admit | undefined): Promise<void>
}

/** What a limit that needs the parsed request says to it. Throws the refusal. */
export type Admit = (input: unknown, ctx: Context) => Promise<void>

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
  return {
    endpoint,
    guards: [...noteInternal(endpoint.internal), ...guards],
    async serve(ctx, admit) {
      const answer = await handle(await readInput(endpoint, ctx, admit), ctx)
      if (answer !== answered) ctx.body = { success: true, ...answer }
    },
  }
}

/** Tells the error middleware, which stands outside of all routes, how this endpoint words its own failure. */
function noteInternal(code: ErrorCode | undefined): Middleware[] {
  if (code === undefined) return []
  const note: Middleware = (ctx, next) => {
    ctx.state['internal'] = code
    return next()
  }
  return [note]
}

/** Binds an endpoint whose handler writes the answer itself, such as a stream. */
export function streamRoute<Input extends z.ZodType, Output extends z.ZodType>(
  endpoint: Endpoint<Input, Output>,
  handle: (input: z.output<Input>, ctx: Context) => Promise<void>,
): Route {
  return {
    endpoint,
    guards: [],
    async serve(ctx, admit) {
      const input = await readInput(endpoint, ctx, admit)
      if (ctx.method !== 'HEAD') return handle(input, ctx)
      // A stream without a body would never end, and hold the connection from the next request.
      ctx.status = 200
      ctx.type = 'text/event-stream'
    },
  }
}

async function readInput<Input extends z.ZodType>(
  { method, input, invalid }: Endpoint<Input, z.ZodType>,
  ctx: Context,
  admit: Admit | undefined,
): Promise<z.output<Input>> {
  const fromQuery = method === 'get' || method === 'delete'
  const fields = fromQuery ? ctx.query : await readJsonBody(ctx, invalid)
  const parsed = parseInput(input, { ...fields, ...pathParameters(ctx) }, invalid)
  if (admit !== undefined) await admit(parsed, ctx)
  return parsed
}

/** What the router found in the path; it decodes them. */
function pathParameters(ctx: Context): Record<string, string> {
  return ctx['params'] ?? {}
}
