import type { Context, Middleware } from 'koa'
import type { z } from 'zod'
import type { ErrorCode } from '../kernel/errors.js'
import type { SwitchName } from '../platform/database/switches/switches.js'
import { readJsonBody } from './body.js'
import { checkQueryText, parseInput } from './input.js'
import type { Limit } from './limits/rate-limits.js'
import { readPicture } from './picture-body.js'

/**
 * An endpoint as data. The same description parses requests and makes the OpenAPI document, and tests validate every
 * answer against it.
 */
export interface Endpoint<Input extends z.ZodType, Output extends z.ZodType> {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete'
  /** The value of a segment `:name` becomes the input's field of that name. */
  readonly path: string
  readonly summary: string
  /** The credential that the caller must present. */
  readonly credential: 'none' | 'session' | 'session-or-token' | 'session-or-key' | 'api-key' | 'sdk-session'
  /** The rate limit. */
  readonly limit: Limit<z.output<Input>>
  /** GET and DELETE read the query, the others a JSON body. */
  readonly input: Input
  /** Fields of a body's input that stand in the query instead: an address that a wallet gets can hold no body. */
  readonly inQuery?: readonly string[]
  /** A DELETE that reads a JSON body instead: a secret does not belong into an address, which proxies log. */
  readonly bodyOfDelete?: boolean
  /** The body is a picture of at most this many bytes, which becomes the input's field `picture`. */
  readonly picture?: number
  /** The error for an unreadable body or a missing required field. */
  readonly invalid: ErrorCode
  readonly output: Output
  /** The other errors, for the OpenAPI document. */
  readonly errors: readonly ErrorCode[]
  /** The error for an unexpected failure, instead of `internal_error`. */
  readonly internal?: ErrorCode
  /** The answer is a stream of server-sent events of this shape. The open streams per client address are limited. */
  readonly stream?: boolean
  /** A list, which may be long and has no secret: it is compressed although it may not be stored (http/finish-read.ts). */
  readonly list?: boolean
  /** `format=csv` answers the same content as a CSV file. */
  readonly csv?: boolean
  /** The caller may send an `Idempotency-Key` (http/idempotency.ts). */
  readonly idempotent?: boolean
  /** While one of these is stopped, the endpoint answers 503. */
  readonly pausedBy?: readonly SwitchName[]
}

/** What a handler returns. Nothing, where the answer has `success` alone. */
type Handled<Output extends z.ZodType> =
  | Promise<Omit<z.output<Output>, 'success'> | typeof answered>
  | (keyof Omit<z.output<Output>, 'success'> extends never ? Promise<void> : never)

/** A handler returns this when it has written the response itself, such as a CSV file. */
export const answered = Symbol('answered')

/** An endpoint with its handler. Each feature's `routes.ts` returns routes, and `app.ts` mounts them. */
export interface Route {
  readonly endpoint: Endpoint<z.ZodType, z.ZodType>
  /** Run before the body is read, such as the check of credentials. */
  readonly guards: readonly Middleware[]
  /** Parses the request, checks its limit and answers it. */
  serve(ctx: Context, checkLimit: CheckLimit | undefined): Promise<void>
}

/** Checks a limit that needs the parsed request. Throws `too_many_requests`. */
export type CheckLimit = (input: unknown, ctx: Context) => Promise<void>

/**
 * Binds a handler to its endpoint. The guards run first, then the body or query is parsed, then `handle` runs. Its
 * result is answered as JSON with `success: true`, unless it returns `answered`.
 */
export function route<Input extends z.ZodType, Output extends z.ZodType>(
  endpoint: Endpoint<Input, Output>,
  handle: (input: z.output<Input>, ctx: Context) => Handled<Output>,
  guards: readonly Middleware[] = [],
): Route {
  return {
    endpoint,
    guards: [...setInternalError(endpoint.internal), ...guards],
    async serve(ctx, checkLimit) {
      const answer = await handle(await readInput(endpoint, ctx, checkLimit), ctx)
      if (answer !== answered) ctx.body = { success: true, ...(answer as object | undefined) }
    },
  }
}

/** Passes the endpoint's `internal` error to the error middleware (http/errors.ts), which runs outside the routes. */
function setInternalError(code: ErrorCode | undefined): Middleware[] {
  if (code === undefined) return []
  const setCode: Middleware = (ctx, next) => {
    ctx.state['internal'] = code
    return next()
  }
  return [setCode]
}

/** Binds an endpoint whose handler always writes the response itself, such as a stream. */
export function streamRoute<Input extends z.ZodType, Output extends z.ZodType>(
  endpoint: Endpoint<Input, Output>,
  handle: (input: z.output<Input>, ctx: Context) => Promise<void>,
  guards: readonly Middleware[] = [],
): Route {
  return {
    endpoint,
    guards,
    async serve(ctx, checkLimit) {
      const input = await readInput(endpoint, ctx, checkLimit)
      if (ctx.method !== 'HEAD') return handle(input, ctx)
      // A stream in answer to HEAD would never end and block the connection for the next request.
      ctx.status = 200
      ctx.type = 'text/event-stream'
    },
  }
}

/** Whether the input stands in the query, else in a JSON body. */
export function readsQuery({
  method,
  bodyOfDelete,
}: Pick<Endpoint<z.ZodType, z.ZodType>, 'method' | 'bodyOfDelete'>): boolean {
  return method === 'get' || (method === 'delete' && bodyOfDelete !== true)
}

async function readInput<Input extends z.ZodType>(
  endpoint: Endpoint<Input, z.ZodType>,
  ctx: Context,
  checkLimit: CheckLimit | undefined,
): Promise<z.output<Input>> {
  const { input, invalid } = endpoint
  const parsed = parseInput(input, { ...(await readFields(endpoint, ctx)), ...pathParameters(ctx) }, invalid)
  if (checkLimit !== undefined) await checkLimit(parsed, ctx)
  return parsed
}

async function readFields(
  endpoint: Pick<
    Endpoint<z.ZodType, z.ZodType>,
    'method' | 'bodyOfDelete' | 'picture' | 'invalid' | 'inQuery'
  >,
  ctx: Context,
): Promise<Record<string, unknown>> {
  const { invalid, picture, inQuery } = endpoint
  if (picture !== undefined) return { picture: await readPicture(ctx, picture, invalid) }
  if (!readsQuery(endpoint) && inQuery === undefined) return readJsonBody(ctx, invalid)
  checkQueryText(ctx.querystring, invalid)
  if (inQuery === undefined) return ctx.query
  const queried = Object.fromEntries(inQuery.map((name) => [name, ctx.query[name]]))
  return { ...(await readJsonBody(ctx, invalid)), ...queried }
}

/** The path's parameters, decoded by the router. */
function pathParameters(ctx: Context): Record<string, string> {
  return ctx['params'] ?? {}
}
