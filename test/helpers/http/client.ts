import type { IncomingHttpHeaders } from 'node:http'
import { type AnswerCheck, createAnswerCheck, type OpenApi } from './check-answer.js'
import { requestRaw } from './raw-request.js'

export interface RequestOptions {
  /** Sent as JSON. Text and bytes are sent unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The session token, sent in the cookie `session`. For another cookie name use `headers`. */
  readonly session?: string | undefined
  /** Sent as `Authorization: Bearer`. */
  readonly bearer?: string
}

interface Answer<Body> {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The type is the caller's. The body was checked against the service's document. */
  readonly body: Body
  /** The session token this answer set, if it set one. */
  readonly session: string | undefined
}

/** The body of every refusal. */
interface Refusal {
  readonly success: false
  readonly error: string
  readonly code: string
  readonly requestId: string
  /** On every 400 and 422. */
  readonly details: readonly { readonly field: string; readonly problem: string }[]
}

/** Sends one request. Rejects when the service's OpenAPI document does not allow the answer. */
export type Request = <Body = Refusal>(
  method: string,
  path: string,
  options?: RequestOptions,
) => Promise<Answer<Body>>

/** Creates a client of the service at `url` that checks answers against the service's document. */
export async function createClient(url: string): Promise<Request> {
  const check: AnswerCheck = createAnswerCheck(
    (await exchange(url, 'GET', '/openapi.json', {})).body as OpenApi,
  )
  return async <Body>(method: string, path: string, options: RequestOptions = {}) => {
    const answer = await exchange(url, method, path, options)
    if (method !== 'HEAD')
      check(method, new URL(path, url).pathname, answer.status, answer.body, answer.headers['content-type'])
    return answer as Answer<Body>
  }
}

async function exchange(
  url: string,
  method: string,
  path: string,
  options: RequestOptions,
): Promise<Answer<unknown>> {
  const payload = payloadOf(options.body)
  const sent = { ...headersOf(options, payload), ...options.headers }
  const { origin, pathname, search } = new URL(path, url)
  const { status, headers, text } = await requestRaw(origin, method, `${pathname}${search}`, sent, payload)
  return {
    status,
    headers,
    body: parsed(text, headers['content-type']),
    session: sessionFrom(headers['set-cookie']),
  }
}

function payloadOf(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body
  return JSON.stringify(body)
}

function headersOf({ session, bearer }: RequestOptions, payload: unknown): Record<string, string> {
  return {
    ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
    ...(session === undefined ? {} : { cookie: `session=${session}` }),
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
  }
}

function parsed(text: string, contentType: string | undefined): unknown {
  return contentType?.startsWith('application/json') === true ? JSON.parse(text) : text
}

function sessionFrom(cookies: string[] | undefined): string | undefined {
  const value = cookies?.map((cookie) => /^(?:__Host-)?session=([^;]*)/.exec(cookie)?.[1]).find(Boolean)
  return value === undefined || value === '' ? undefined : value
}
