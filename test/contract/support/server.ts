/** The server under test. `CONTRACT_URL` names it; nothing of the service is imported. */
export const base = (process.env['CONTRACT_URL'] ?? '').replace(/\/$/, '')

/** The stand-ins' controls, where the server has them: they pay, fail, fund and read mails. Empty: none. */
export const standIns = (process.env['CONTRACT_STAND_INS'] ?? '').replace(/\/$/, '')

export type Json = Record<string, unknown>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as an object; empty where it is none. */
  readonly body: Json
  /** `name=value` of the session cookie that was set; empty without one. */
  readonly cookie: string
}

export interface CallOptions {
  readonly body?: unknown
  /** The body as it goes out, in place of `body`. */
  readonly raw?: string
  readonly cookie?: string
  readonly bearer?: string
  readonly headers?: Readonly<Record<string, string>>
}

const longestWaitSeconds = 70

/** Calls the server. A server with tight limits answers 429 with `Retry-After`: the call is repeated then. */
export async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await callOnce(`${base}${path}`, method, options)
    if (answer.status !== 429 || answer.body['error'] !== 'Too many requests' || attempt === 4) return answer
    const seconds = Math.min(Number(answer.headers.get('retry-after') ?? 1), longestWaitSeconds)
    await new Promise((done) => setTimeout(done, seconds * 1000))
  }
}

/** Sets the stand-ins: `POST <path>`. Throws unless it answers 200. */
export async function control(path: string, body: unknown): Promise<Json> {
  const answer = await callOnce(`${standIns}${path}`, 'POST', { body })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
  return answer.body
}

/** Reads from the stand-ins: `GET <path>`. */
export async function observe<T>(path: string): Promise<T> {
  return (await (await fetch(`${standIns}${path}`)).json()) as T
}

async function callOnce(url: string, method: string, options: CallOptions): Promise<Answer> {
  const { body, raw, cookie, bearer, headers } = options
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  })
  const text = await response.text()
  const set = response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: objectFrom(text),
    cookie: set[0] ?? '',
  }
}

function objectFrom(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Json) : {}
  } catch {
    return {}
  }
}

/** Reads again every 100 ms until `read` brings something. Throws after `seconds`, naming what was awaited. */
export async function until<T>(
  what: string,
  seconds: number,
  read: () => Promise<T | undefined>,
): Promise<T> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    const found = await read()
    if (found !== undefined) return found
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error(`${what}: not within ${seconds} s`)
}

/** A value at a path of names; undefined where there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (found, name) =>
      typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[name] : undefined,
    value,
  )
}
