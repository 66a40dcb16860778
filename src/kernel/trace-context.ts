/** The request that made something, and the trace that its caller had begun. */
export interface Origin {
  /** Null: no request made it. */
  readonly requestId: string | null
  /** A UUID, or the same digits without dashes. Null: the caller had none, and the request's id is its trace. */
  readonly traceId: string | null
}

export const noOrigin: Origin = { requestId: null, traceId: null }

/** The columns of an origin, as SQL. */
export const originColumns = (alias: string): string =>
  `${alias}.request_id as "requestId", ${alias}.trace_id as "traceId"`

/** A place in a trace. */
export interface TraceContext {
  readonly traceId: string
  readonly spanId: string
}

/** Of version 00 and, as far as it is known, of later ones; 255 is none (W3C Trace Context, 3.2). */
const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/

/** The place that a header `traceparent` names. Undefined for any other text. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, more] = form.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined))
    return undefined
  return { traceId, spanId }
}

/** What we send on is always marked as sampled: whoever gets it may decide otherwise. */
export const traceparentOf = ({ traceId, spanId }: TraceContext): string => `00-${traceId}-${spanId}-01`

/**
 * The place of a request in its trace. The span is the end of the request's id, so that nothing need be stored for it. Undefined: it has
 * no origin.
 */
export function contextOf({ requestId, traceId }: Origin): TraceContext | undefined {
  const trace = digitsOf(traceId ?? requestId)
  const spanId = digitsOf(requestId ?? traceId).slice(-16)
  return /[^0]/.test(spanId) ? { traceId: trace, spanId } : undefined
}

/** How a line of the log names an origin. */
export function namedOrigin({ requestId, traceId }: Origin) {
  const digits = digitsOf(traceId ?? requestId)
  return { requestId, ...(digits !== '' && { traceId: digits }) }
}

const digitsOf = (id: string | null): string => id?.replaceAll('-', '') ?? ''
