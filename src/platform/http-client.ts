import http from 'node:http'
import https from 'node:https'
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
  { method = 'GET', headers, body, timeoutMs, maxBytes }: JsonRequest,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { status, text } = await sendRequest(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    timeoutMs,
    maxBytes,
  })
  try {
    return { status, body: JSON.parse(text) }
  } catch {
    return { status, body: undefined }
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
  const headers = { 'content-type': type }
  const { status } = await sendRequest(url, {
    method: 'PUT',
    headers,
    body: bytes,
    timeoutMs,
    maxBytes: maxFileAnswer,
  })
  if (status < 200 || status >= 300) throw failure('ambiguous', url, status)
}

const maxFileAnswer = 64 * 1024

interface SentRequest {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array | undefined
  readonly timeoutMs: number
  readonly maxBytes: number
}

interface Answer {
  readonly status: number
  readonly text: string
}

async function sendRequest(url: string, request: SentRequest): Promise<Answer> {
  try {
    return await transport.send(new URL(url), request)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const refused = code === 'ECONNREFUSED' || code === 'ENOTFOUND'
    throw new ProviderError(refused ? 'unavailable' : 'ambiguous', `${new URL(url).host}: ${code ?? message}`)
  }
}

/** A connection waits so long for the next request. Servers close theirs later. */
const idleMs = 3000
const plain = { request: http.request, agent: new http.Agent({ keepAlive: true, timeout: idleMs }) }
const encrypted = { request: https.request, agent: new https.Agent({ keepAlive: true, timeout: idleMs }) }
const redirects = new Set([301, 302, 303, 307, 308])

/** Node's own client takes a quarter of the CPU of its `fetch`. Tools that watch requests replace `send`. */
export const transport = {
  send(url: URL, { method, headers, body, timeoutMs, maxBytes }: SentRequest): Promise<Answer> {
    const { request, agent } = url.protocol === 'https:' ? encrypted : plain
    return new Promise((resolve, reject) => {
      const options = { method, agent, headers: { 'user-agent': 'node', ...headers } }
      const sent = request(url, options, (answer) => {
        const { statusCode: status = 0 } = answer
        const chunks: Buffer[] = []
        let size = 0
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length
          chunks.push(chunk)
          if (size > maxBytes) fail(new Error(`answer larger than ${maxBytes} bytes`))
        })
        answer.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString('utf8') }))
        answer.on('error', fail)
        if (redirects.has(status)) fail(new Error(`answered ${status}, a redirect`))
      })
      const timer = setTimeout(() => fail(new Error('no complete answer in time')), timeoutMs)
      const fail = (error: unknown): void => {
        reject(error)
        sent.destroy()
      }
      sent.on('error', fail)
      sent.on('close', () => clearTimeout(timer))
      sent.end(body)
    })
  },
}

function failure(kind: ProviderError['kind'], url: string, status: number): ProviderError {
  return new ProviderError(kind, `${new URL(url).host} answered ${status}`, status)
}
