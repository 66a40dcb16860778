import { type Logger, pino } from 'pino'

export type Log = Logger

/** Fields that never reach a log line, at any depth we log. */
const secrets = [
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'currentPassword',
  'newPassword',
  'code',
  'apiKey',
  'sessionToken',
  'accessToken',
  'token',
  'accountNumber',
  'email',
  'secretKey',
]

/** PostgreSQL quotes rows and values in these fields of an error. */
const rowFields = ['err.detail', 'err.where']

/** Codes of the system (ECONNREFUSED), PostgreSQL (57P01) and HTTP. A one-time code has six digits and does not match. */
const errorCode = /^(E[A-Z_]{3,30}|[0-9A-Z]{5}|[1-5]\d\d)$/

/** An error as it is logged. Its `code` becomes `errorCode`, because the field `code` is redacted (one-time codes). */
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
        ...rowFields,
      ],
      censor: '[redacted]',
    },
  })
}
