import { refused, send } from '../../sdk/client/ask.js'
import { TippingError } from '../../sdk/client/errors.js'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

interface Extras {
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

const timeoutMs = 30_000
const service = { baseUrl: location.origin }
const sessionEnded = new EventTarget()

/**
 * Asks the service as whoever is signed in. Throws TippingError; when the session is over, whoever listens by
 * `onSessionEnd` is told as well.
 */
export async function call<Answer>(method: Method, path: string, extras: Extras = {}): Promise<Answer> {
  const response = await request(method, path, extras)
  const answer: unknown = await response.json().catch(() => undefined)
  if (typeof answer === 'object' && answer !== null && 'success' in answer) return answer as Answer
  throw new TippingError('an answer that is not the service’s', 'bad_answer', response.status)
}

/** The same for an answer of another kind, such as a file. */
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
    const error = await refused(response)
    if (error.code === 'unauthorized') sessionEnded.dispatchEvent(new Event('end'))
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Told whenever the service says that nobody is signed in any more. Returns how to stop listening. */
export function onSessionEnd(tell: () => void): () => void {
  sessionEnded.addEventListener('end', tell)
  return () => sessionEnded.removeEventListener('end', tell)
}

/** The code of whatever went wrong. */
export function codeOf(error: unknown): string {
  return error instanceof TippingError ? error.code : 'unknown'
}
