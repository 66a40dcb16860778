/**
 * SQLSTATE classes of a server that cannot serve now: connection (08), resources with a full disk (53), operator (57), the
 * operating system (58), lock timeout (55P03).
 */
const unavailableState = /^(08|53|57|58|55P03)/
/** They end the session. At connect that is every refusal: a wrong password, a missing database, XX000 of a pooler. */
const endsSession = new Set(['FATAL', 'PANIC'])
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
])
/** knex puts the statement before some messages: `COMMIT; - Connection terminated unexpectedly`. */
const unavailableMessage =
  /(^| - )(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/

/** Whether an error means that PostgreSQL cannot serve now, so that the statement itself may be fine. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const severity = 'severity' in error && typeof error.severity === 'string' ? error.severity : ''
  return (
    unavailableState.test(code) ||
    endsSession.has(severity) ||
    unavailableCodes.has(code) ||
    error.name === 'KnexTimeoutError' ||
    unavailableMessage.test(error.message)
  )
}

/** Whether an error means that the connection is of no use any more: it broke, or a statement was not answered in time. */
export function isLost(error: unknown): boolean {
  const { severity } = (error ?? {}) as { readonly severity?: unknown }
  const isAnswer = typeof severity === 'string' && !endsSession.has(severity)
  return isDatabaseUnavailable(error) && !isAnswer
}
