import { setTimeout as pause } from 'node:timers/promises'

export type Json = Record<string, unknown>

interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH'
  readonly body?: Json
  /** The cookie of a browser. */
  readonly cookie?: string
  /** The token of a supporter's session. */
  readonly bearer?: string
}

/** Calls an endpoint. Returns its answer and the cookie that it sets. Throws with the service's error text. */
export async function send(
  url: string,
  { method = 'GET', body, cookie, bearer }: Call,
): Promise<{ answer: Json; cookie: string }> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Json
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${JSON.stringify(answer)}`)
  return { answer, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

export async function get(url: string): Promise<Json> {
  return (await send(url, {})).answer
}

export async function post(url: string, body: Json, bearer?: string): Promise<Json> {
  return (await send(url, { method: 'POST', body, ...(bearer !== undefined && { bearer }) })).answer
}

/** Calls `read` until it returns something. Throws after `ms` with the name of what was expected. */
export async function until<T>(what: string, ms: number, read: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(50)) {
    const found = await read()
    if (found !== undefined) return found
  }
  throw new Error(`${what}: nothing within ${ms} ms`)
}
