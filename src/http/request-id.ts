import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import { type Origin, parseTraceparent, type TraceContext } from '../kernel/trace-context.js'

/**
 * A new id of a request: a UUID of version 7 (RFC 9562), which begins with the time in ms. So rows that keep it stand in the
 * order of the index. Ids that a caller sends are not used.
 */
export function newRequestId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** A request's id, its caller's trace, and the span of the caller's that it belongs to. */
export interface RequestOrigin extends Origin {
  readonly requestId: string
  readonly parent: TraceContext | undefined
}

/** Gives the request an id. A `traceparent` that is not one begins no trace: the request's own id does. */
export function beginRequest(ctx: Context): RequestOrigin {
  const parent = parseTraceparent(ctx.headers['traceparent'] as string | undefined)
  const origin = { requestId: newRequestId(), traceId: parent?.traceId ?? null, parent }
  ctx.state['origin'] = origin
  return origin
}

/** The request, as rows and lines of the log keep it. */
export function originOf(ctx: Context): RequestOrigin {
  return ctx.state['origin']
}

/** What a request made or repeated, for its line in the log. */
export interface NamedRow {
  readonly tip?: string
  readonly intent?: string
  readonly reference?: string
}

/** Has the line of the request in the log name this row. */
export function nameRow(ctx: Context, row: NamedRow): void {
  ctx.state['row'] = row
}

/** The row that `nameRow` has given. */
export function namedRow(ctx: Context): NamedRow | undefined {
  return ctx.state['row']
}
