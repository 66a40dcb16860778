import { setTimeout as pause } from 'node:timers/promises'

export type Json = Record<string, unknown>

/** Calls an endpoint and returns its answer; throws with the service's own error text. */
export async function callApi(
  base: string,
  method: 'GET' | 'POST',
  path: string,
  body?: Json,
  token?: string,
): Promise<Json> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Json
  if (!response.ok)
    throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`)
  return answer
}

/** Asks again until `read` brings something. Throws after `ms`, naming what was waited for. */
export async function until<T>(what: string, ms: number, read: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(50)) {
    const found = await read()
    if (found !== undefined) return found
  }
  throw new Error(`${what}: nothing within ${ms} ms`)
}
