import { type FieldProblem, TippingError } from './errors.js'

/** The service's address, and how to send requests to it. */
export interface Service {
  /** Such as `https://tips.example`. */
  readonly baseUrl: string
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch
}

export interface RequestOptions {
  readonly bearer?: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** How long the service may wait before it answers. */
  readonly waitMs?: number
}

const timeoutMs = 20_000

/**
 * Sends a request and returns the answer's JSON. Throws TippingError for every refusal and network failure, and the
 * signal's reason when it is aborted.
 */
export async function requestJson<Answer>(
  service: Service,
  method: 'GET' | 'POST',
  path: string,
  { bearer, body, signal, waitMs = 0 }: RequestOptions,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMs + waitMs)
  const response = await sendRequest(
    service,
    path,
    {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: 'omit',
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    },
    signal,
  )
  const answer = (await response.json().catch((error: unknown) => {
    if ((error as Error).name === 'SyntaxError') return undefined
    signal?.throwIfAborted()
    throw noAnswer(error)
  })) as Partial<ErrorBody> | undefined
  signal?.throwIfAborted()
  if (response.ok && answer?.success === true) return answer as Answer
  throw errorFrom(response, answer)
}

/** Sends a request and returns the response, whatever its status. Throws TippingError when there is no response. */
export async function sendRequest(
  { baseUrl, fetch: ownFetch }: Service,
  path: string,
  request: RequestInit,
  signal?: AbortSignal,
): Promise<Response> {
  const fetchOnce = ownFetch ?? fetch
  try {
    return await fetchOnce(`${baseUrl.replace(/\/+$/, '')}${path}`, request)
  } catch (error) {
    signal?.throwIfAborted()
    throw noAnswer(error)
  }
}

/** Also where the answer ended before its end. */
function noAnswer(error: unknown): TippingError {
  return new TippingError(
    `no answer: ${error instanceof Error ? error.message : String(error)}`,
    'network',
    0,
  )
}

/** Reads the error of a response that is not a success. */
export async function readError(response: Response): Promise<TippingError> {
  return errorFrom(response, (await response.json().catch(() => undefined)) as Partial<ErrorBody> | undefined)
}

interface ErrorBody {
  readonly success: boolean
  readonly error: string
  readonly code: string
  readonly requestId: string
  readonly details: readonly FieldProblem[]
}

function errorFrom(response: Response, answer: Partial<ErrorBody> | undefined): TippingError {
  const { error, code, requestId = response.headers.get('x-request-id') ?? undefined, details } = answer ?? {}
  if (typeof error === 'string' && typeof code === 'string')
    return new TippingError(error, code, response.status, requestId, details)
  return new TippingError(
    `an answer of status ${response.status} that is not the service's`,
    'bad_answer',
    response.status,
    requestId,
  )
}
