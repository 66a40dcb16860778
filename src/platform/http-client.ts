import { ProviderError } from '../kernel/provider-error.js'

export interface JsonRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: unknown
  /** Total deadline in ms, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
  /** Largest answer that is read, in bytes. */
  readonly maxBytes: number
}

/**
 * The one way out of the house: JSON over HTTP with a deadline, no redirects (a 307 would re-send body and
 * credentials) and a bounded answer. Throws ProviderError: `rejected` for 4xx, `unavailable` when nothing was
 * reached or asked to come later, `ambiguous` for everything that leaves open what the other side did.
 */
export async function requestJson(url: string, request: JsonRequest): Promise<unknown> {
  const { status, body } = await exchangeJson(url, request)
  if (status === 429 || status === 503) throw failure('unavailable', url, status)
  if (status >= 500) throw failure('ambiguous', url, status)
  if (status >= 400) throw failure('rejected', url, status)
  if (body === undefined)
    throw new ProviderError('ambiguous', `${new URL(url).host} did not answer JSON`, status)
  return body
}

/**
 * The same for a provider whose refusals are read, not only counted: any status is an answer. `body` is undefined
 * when it is not JSON. Throws ProviderError only when there is no whole answer.
 */
export async function exchangeJson(
  url: string,
  request: JsonRequest,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await send(url, request)
  const text = await readBounded(response, request.maxBytes)
  try {
    return { status: response.status, body: JSON.parse(text) }
  } catch {
    return { status: response.status, body: undefined }
  }
}

async function send(
  url: string,
  { method = 'GET', headers, body, timeoutMs }: JsonRequest,
): Promise<Response> {
  try {
    return await fetch(url, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
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
