import { TippingError } from '../../sdk/client/errors.js'
import { readError, send } from '../../sdk/client/request.js'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

interface Extras {
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

const timeoutMs = 30_000
const service = { baseUrl: location.origin }
const sessionEnded = new EventTarget()

/** Calls the API with the session cookie. Throws TippingError; a 401 also notifies the listeners of `onSessionEnd`. */
export async function call<Answer>(method: Method, path: string, extras: Extras = {}): Promise<Answer> {
  const response = await request(method, path, extras)
  const answer: unknown = await response.json().catch(() => undefined)
  if (typeof answer === 'object' && answer !== null && 'success' in answer) return answer as Answer
  throw new TippingError('an answer that is not the service’s', 'bad_answer', response.status)
}

/** The same for an answer that is not JSON, such as a CSV file. */
export async function request(
  method: Method,
  path: string,
  { body, idempotencyKey, signal }: Extras = {},
): Promise<Response> {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), timeoutMs)
  signal?.addEventListener('abort', () => timeout.abort(), { once: true })
  const headers = {
    accept: 'application/json, text/csv',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  }
  try {
    const init = { method, headers, credentials: 'same-origin', signal: timeout.signal } as const
    const response = await send(
      service,
      path,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
      signal,
    )
    if (response.ok) return response
    const error = await readError(response)
    if (error.code === 'unauthorized') sessionEnded.dispatchEvent(new Event('end'))
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Calls back when the service answers that the session is over. Returns a function that stops it. */
export function onSessionEnd(listener: () => void): () => void {
  sessionEnded.addEventListener('end', listener)
  return () => sessionEnded.removeEventListener('end', listener)
}

/** The error code of a failed call. */
export function codeOf(error: unknown): string {
  return error instanceof TippingError ? error.code : 'unknown'
}
