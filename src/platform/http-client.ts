import { ProviderError } from '../kernel/provider-error.js'

export interface JsonRequest {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly headers?: Record<string, string>
  readonly body?: unknown
  /** Total time limit in ms, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
  /** Maximum size of the answer. */
  readonly maxBytes: number
}

/**
 * The only HTTP client of the service: JSON, with a time limit, no redirects (a 307 would re-send body and
 * credentials) and a size limit. Throws ProviderError: `rejected` for 4xx, `unavailable` when the server was not
 * reached or answers 429 or 503, `ambiguous` when the server may have acted.
 */
export async function requestJson(url: string, request: JsonRequest): Promise<unknown> {
  const { status, body } = await requestAnyStatus(url, request)
  if (status === 429 || status === 503) throw failure('unavailable', url, status)
  if (status >= 500) throw failure('ambiguous', url, status)
  if (status >= 400) throw failure('rejected', url, status)
  if (body === undefined)
    throw new ProviderError('ambiguous', `${new URL(url).host} did not answer JSON`, status)
  return body
}

/**
 * As `requestJson`, for a provider whose refusals have a body to read: returns an answer of any status. `body` is
 * undefined when it is not JSON. Throws ProviderError only when there is no complete answer.
 */
export async function requestAnyStatus(
  url: string,
  request: JsonRequest,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await sendRequest(url, request)
  const text = await readBounded(response, request.maxBytes)
  try {
    return { status: response.status, body: JSON.parse(text) }
  } catch {
    return { status: response.status, body: undefined }
  }
}

/**
 * Stores a file with PUT at an address that a provider signed for it. Sends no credentials. Throws ProviderError for every status
 * but 2xx, too.
 */
export async function putFile(
  url: string,
  {
    type,
    bytes,
    timeoutMs,
  }: { readonly type: string; readonly bytes: Uint8Array; readonly timeoutMs: number },
): Promise<void> {
  const body = new Uint8Array(bytes)
  const { status, ok } = await request(
    url,
    { method: 'PUT', headers: { 'content-type': type }, body },
    timeoutMs,
  )
  if (!ok) throw failure('ambiguous', url, status)
}

function sendRequest(
  url: string,
  { method = 'GET', headers, body, timeoutMs }: JsonRequest,
): Promise<Response> {
  const init = {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
  return request(url, init, timeoutMs)
}

async function request(url: string, init: RequestInit, timeoutMs: number): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    const refused = causeCode(error) === 'ECONNREFUSED' || causeCode(error) === 'ENOTFOUND'
    throw new ProviderError(
      refused ? 'unavailable' : 'ambiguous',
      `${new URL(url).host}: ${(error as Error).message}`,
    )
  }
}

async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > maxBytes) throw new Error(`answer larger than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw new ProviderError('ambiguous', `${new URL(response.url).host}: ${(error as Error).message}`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function failure(kind: ProviderError['kind'], url: string, status: number): ProviderError {
  return new ProviderError(kind, `${new URL(url).host} answered ${status}`, status)
}

function causeCode(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error && 'code' in error.cause
    ? error.cause.code
    : undefined
}
