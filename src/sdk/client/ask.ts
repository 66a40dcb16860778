import { TippingError } from './errors.js'

/** Where the service is, and how to reach it. */
export interface Service {
  /** Such as `https://tips.example`. */
  readonly baseUrl: string
  /** Another `fetch` than the global one. */
  readonly fetch?: typeof fetch
}

export interface Ask {
  readonly bearer?: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

const timeoutMs = 20_000

/**
 * Asks the service one thing and returns its answer. Throws TippingError for every refusal and every failure on the
 * way; the signal's own reason when it is aborted.
 */
export async function ask<Answer>(
  service: Service,
  method: 'GET' | 'POST',
  path: string,
  { bearer, body, signal }: Ask,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const response = await send(
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
  const answer = (await response.json().catch(() => undefined)) as Partial<Refusal> | undefined
  signal?.throwIfAborted()
  if (response.ok && answer?.success === true) return answer as Answer
  throw refusalOf(response, answer)
}

/** Sends a request; an answer of any status comes back. */
export async function send(
  { baseUrl, fetch: given }: Service,
  path: string,
  request: RequestInit,
  signal?: AbortSignal,
): Promise<Response> {
  const reach = given ?? fetch
  try {
    return await reach(`${baseUrl.replace(/\/+$/, '')}${path}`, request)
  } catch (error) {
    signal?.throwIfAborted()
    throw new TippingError(
      `no answer: ${error instanceof Error ? error.message : String(error)}`,
      'network',
      0,
    )
  }
}

/** The error of an answer that is not a success. */
export async function refused(response: Response): Promise<TippingError> {
  return refusalOf(response, (await response.json().catch(() => undefined)) as Partial<Refusal> | undefined)
}

interface Refusal {
  readonly success: boolean
  readonly error: string
  readonly code: string
  readonly requestId: string
}

function refusalOf(response: Response, answer: Partial<Refusal> | undefined): TippingError {
  const { error, code, requestId = response.headers.get('x-request-id') ?? undefined } = answer ?? {}
  if (typeof error === 'string' && typeof code === 'string')
    return new TippingError(error, code, response.status, requestId)
  return new TippingError(
    `an answer of status ${response.status} that is not the service's`,
    'bad_answer',
    response.status,
    requestId,
  )
}
