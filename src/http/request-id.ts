import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'

/**
 * A new id of a request: a UUID of version 7 (RFC 9562), which begins with the time in ms. So rows that keep it stand in the
 * order of the index. Ids that a caller sends are not used.
 */
export function newRequestId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** The id of the request, which its answer and its line in the log have. */
export function requestIdOf(ctx: Context): string {
  return ctx.state['requestId']
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
