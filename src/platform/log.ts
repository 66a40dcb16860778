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

/** The JSON log of one process. `process` names it (web, verifier, ...) on every line. */
export function createLog(level: string, process: string): Log {
  return pino({
    level,
    base: { process },
    redact: {
      paths: [
        ...secrets.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]),
        ...rowQuotes,
      ],
      censor: '[redacted]',
    },
  })
}
