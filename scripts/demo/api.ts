import { setTimeout as pause } from 'node:timers/promises'

export type Json = Record<string, unknown>

/** Calls an endpoint and returns its answer. Throws with the service's error text. */
export async function callApi(
  base: string,
  method: 'GET' | 'POST',
  path: string,
  body?: Json,
  token?: string,
): Promise<Json> {
  return (
    await sendRequest(
      base,
      method,
      path,
      body,
      token === undefined ? {} : { authorization: `Bearer ${token}` },
    )
  ).answer
}

/** Calls an endpoint as a browser without a session. Returns the answer and the cookie that was set. */
export async function callForCookie(
  base: string,
  path: string,
  body: Json,
): Promise<{ answer: Json; cookie: string }> {
  return sendRequest(base, 'POST', path, body, {})
}

/** Calls an endpoint with a session cookie, as the dashboard does. */
export async function callWithSession(
  base: string,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  cookie: string,
  body?: Json,
): Promise<Json> {
  return (await sendRequest(base, method, path, body, { cookie })).answer
}

async function sendRequest(
  base: string,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body: Json | undefined,
  credentials: Record<string, string>,
): Promise<{ answer: Json; cookie: string }> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...credentials,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Json
  if (!response.ok)
    throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`)
  return { answer, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

/** Calls `read` until it returns something. Throws after `ms` with the name of what was expected. */
export async function until<T>(what: string, ms: number, read: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(50)) {
    const found = await read()
    if (found !== undefined) return found
  }
  throw new Error(`${what}: nothing within ${ms} ms`)
}
