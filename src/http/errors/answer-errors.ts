import type { Context, Middleware } from 'koa'
import {
  codesWithProviderText,
  DomainError,
  type ErrorCode,
  errors,
  type FieldProblem,
} from '../../kernel/errors.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { contextOf, namedOrigin, type TraceContext } from '../../kernel/trace-context.js'
import { isDatabaseUnavailable } from '../../platform/database/connections/unavailable.js'
import { Overloaded } from '../../platform/database/group-commit.js'
import type { Log } from '../../platform/log.js'
import type { Metrics } from '../../platform/monitoring/metrics.js'
import type { Span } from '../../platform/tracing/otlp.js'
import type { Tracing } from '../../platform/tracing/tracing.js'
import { beginRequest, namedRow, originOf, type RequestOrigin } from '../request-id.js'
import { generalDetails, hasDetails, isForWallets, mayHaveDetails, messageOf } from './error-details.js'

/** `Retry-After` for a refusal that does not set its own. A key's lease ends within ten seconds. */
const retrySeconds: Partial<Record<ErrorCode, number>> = {
  too_many_requests: 60,
  request_in_progress: 3,
  service_unavailable: 2,
}

/** Requests that are refused because too many wait are logged so often. */
const logShedEveryMs = 60_000

/**
 * The outermost middleware. Gives each request an id, answers every thrown error with the API's error body, and writes
 * one log line and one metric per request; of requests that were shed one line a minute, with their number since the last. Error
 * texts of libraries never reach the caller.
 */
export function answerErrors(log: Log, metrics: Metrics, tracing?: Tracing): Middleware {
  const logShed = shedLog(log)
  return async (ctx, next) => {
    const startedAt = performance.now()
    const origin = beginRequest(ctx)
    const { requestId } = origin
    ctx.set('X-Request-Id', requestId)
    let isShed = false
    try {
      await next()
      if (ctx.status === 404 && ctx.body == null) answer(ctx, 'not_found', requestId)
      if (ctx.status === 405 || ctx.status === 501) answer(ctx, 'method_not_allowed', requestId)
    } catch (error) {
      const code = codeOf(error, ctx.state['internal'])
      answer(ctx, code, requestId, error)
      isShed = error instanceof Overloaded
      if (!isShed && errors[code][0] >= 500 && !(error instanceof DomainError))
        log.error({ err: error, ...namedOrigin(origin), path: loggedPath(ctx) }, 'request failed')
    }
    const seconds = (performance.now() - startedAt) / 1000
    const route = String(ctx['_matchedRoute'] ?? 'none')
    const { method, status } = ctx
    metrics.requestSeconds.observe({ method, route, status }, seconds)
    if (isShed) return logShed(ctx)
    tracing?.record(requestSpan(origin, { method, route, status, seconds }))
    log.info(
      {
        ...namedOrigin(origin),
        method,
        path: loggedPath(ctx),
        status,
        ms: Math.round(seconds * 1e5) / 100,
        ...namedRow(ctx),
      },
      'request',
    )
  }
}

/** Without the path, which may have a secret. */
function requestSpan(
  origin: RequestOrigin,
  {
    method,
    route,
    status,
    seconds,
  }: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly seconds: number
  },
): Span {
  const endMs = Date.now()
  return {
    // A request has an id, so it has a place.
    ...(contextOf(origin) as TraceContext),
    parentSpanId: origin.parent?.spanId,
    name: `${method} ${route}`,
    kind: 'server',
    startMs: endMs - seconds * 1000,
    endMs,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'tipping.request_id': origin.requestId,
    },
    failed: status >= 500,
  }
}

/** Logs the first refusal of a minute, with the number since the last line. */
function shedLog(log: Log): (ctx: Context) => void {
  let requests = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return (ctx) => {
    requests += 1
    if (performance.now() - loggedAt < logShedEveryMs) return
    const { status } = ctx
    log.warn({ ...namedOrigin(originOf(ctx)), path: loggedPath(ctx), status, requests }, 'requests were shed')
    requests = 0
    loggedAt = performance.now()
  }
}

function answer(ctx: Context, code: ErrorCode, requestId: string, cause?: unknown): void {
  const [status, text] = errors[code]
  const error = codesWithProviderText.has(code) && cause instanceof DomainError ? cause.message : text
  ctx.status = status
  const seconds = (cause instanceof DomainError ? cause.retryAfter : undefined) ?? retrySeconds[code]
  if (seconds !== undefined && !ctx.res.hasHeader('Retry-After')) ctx.set('Retry-After', String(seconds))
  const details = detailsOf(code, cause)
  ctx.body = {
    success: false,
    error,
    code,
    requestId,
    ...(details.length > 0 && { details }),
    ...(isForWallets(ctx.path) && { message: messageOf(error, details) }),
  }
}

/** Every 400 and 422 names the fault, and some other refusals may. */
function detailsOf(code: ErrorCode, cause: unknown): readonly FieldProblem[] {
  const own = cause instanceof DomainError && mayHaveDetails(code) ? cause.details : []
  if (own.length > 0) return own
  return hasDetails(code) ? [generalDetails(code)] : []
}

/** Hides the code of a payment link: it is a credential, valid for a minute. */
function loggedPath({ path }: Context): string {
  return path.replace(/^(\/+(?:pay|overlay)\/+).+/i, '$1[redacted]')
}

function codeOf(error: unknown, internal: ErrorCode = 'internal_error'): ErrorCode {
  if (error instanceof DomainError) return error.code
  const unavailable =
    error instanceof Overloaded || error instanceof ProviderError || isDatabaseUnavailable(error)
  return unavailable ? 'service_unavailable' : internal
}
