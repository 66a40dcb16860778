import { TippingError } from '../../sdk/client/errors.js'
import { readError, sendRequest } from '../../sdk/client/request.js'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

interface Extras {
  readonly body?: unknown
  /** Sent as it is, in place of a body. */
  readonly file?: Blob
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

const timeoutMs = 30_000
const service = { baseUrl: location.origin }
const refusals = new EventTarget()

/** Calls the API with the session cookie. Throws TippingError; a refusal also notifies the listeners of `onRefusal`. */
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
  { body, file, idempotencyKey, signal }: Extras = {},
): Promise<Response> {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), timeoutMs)
  signal?.addEventListener('abort', () => timeout.abort(), { once: true })
  const headers = {
    accept: 'application/json, text/csv',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(file !== undefined && { 'content-type': file.type }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  }
  try {
    const init = { method, headers, credentials: 'same-origin', signal: timeout.signal } as const
    const sent = body === undefined ? file : JSON.stringify(body)
    const response = await sendRequest(
      service,
      path,
      sent === undefined ? init : { ...init, body: sent },
      signal,
    )
    if (response.ok) return response
    const error = await readError(response)
    refusals.dispatchEvent(new Event(error.code))
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Calls back when the service refuses with this code. Returns a function that stops it. */
export function onRefusal(code: 'unauthorized' | 'account_frozen', listener: () => void): () => void {
  refusals.addEventListener(code, listener)
  return () => refusals.removeEventListener(code, listener)
}

export function codeOf(error: unknown): string {
  return error instanceof TippingError ? error.code : 'unknown'
}
