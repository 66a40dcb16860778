import { type Logger, pino } from 'pino'

export type Log = Logger

/** Fields that never reach a log line, at any of the depths we log. */
const secrets = [
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'code',
  'apiKey',
  'sessionToken',
  'accessToken',
  'token',
  'accountNumber',
  'email',
  'secretKey',
]

/** PostgreSQL quotes whole rows in the detail of an error, and the statement's place with values in its context. */
const rowQuotes = ['err.detail', 'err.where']

/** Codes of the system (ECONNREFUSED), of PostgreSQL (57P01) and of HTTP. A one-time code, of six digits, is none of them. */
const errorCode = /^(E[A-Z_]{3,30}|[0-9A-Z]{5}|[1-5]\d\d)$/

/** An error as a line tells it. Its `code` is what an operator looks for first, and `code` is a secret's name: it gets another. */
function describeError(error: Error): object {
  const { code, ...described } = pino.stdSerializers.err(error)
  return errorCode.test(String(code)) ? { ...described, errorCode: code } : described
}

/** The JSON log of one process. `process` names it (web, verifier, ...) on every line. */
export function createLog(level: string, process: string): Log {
  return pino({
    level,
    base: { process },
    serializers: { err: describeError },
    redact: {
      paths: [
        ...secrets.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]),
        ...rowQuotes,
      ],
      censor: '[redacted]',
    },
  })
}
