import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { serviceName } from '../kernel/brand.js'
import { readRetryAfter } from './retry-schedule.js'
import { hostOf, parseTarget, type Reach, resolveTarget, TargetRefused } from './target.js'

/** From resolving the name to the last byte of the answer. */
const deadlineMs = 15_000
const mostAnswerBytes = 64 * 1024
const keptBytes = 1024

/** What became of one attempt. */
export interface Attempt {
  readonly ok: boolean
  /** Null: there was no answer. */
  readonly status: number | null
  readonly ms: number
  /** The beginning of the answer, or why there is none. */
  readonly answer: string
  /** What the receiver asked for with `Retry-After`. */
  readonly retryAfterMs: number
}

interface Answer {
  readonly status: number
  readonly body: Buffer
  readonly retryAfter: string | undefined
}

/**
 * POSTs a text once. Every status but 2xx has failed, a redirect too: it would send the event to where its owner never
 * pointed us. The name is resolved for each attempt, and the connection goes to an address that was checked.
 */
export async function sendWebhook(
  {
    url: text,
    headers,
    body,
  }: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  },
  reach: Reach,
  timeoutMs = deadlineMs,
): Promise<Attempt> {
  const started = performance.now()
  const result = await attempt(text, headers, body, reach, timeoutMs)
  return { ...result, ms: Math.round(performance.now() - started) }
}

async function attempt(
  text: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  reach: Reach,
  timeoutMs: number,
): Promise<Omit<Attempt, 'ms'>> {
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const url = parseTarget(text, reach)
    const addresses = await before(deadline, resolveTarget(url, reach))
    const { status, body: answer, retryAfter } = await post(url, addresses, headers, body, deadline)
    const ok = status >= 200 && status < 300
    return {
      ok,
      status,
      // PostgreSQL stores no NUL.
      answer: answer.subarray(0, keptBytes).toString('utf8').replaceAll('\u0000', '\ufffd'),
      retryAfterMs: ok ? 0 : readRetryAfter(retryAfter, Date.now()),
    }
  } catch (error) {
    return { ok: false, status: null, answer: describe(error, deadline, timeoutMs), retryAfterMs: 0 }
  }
}

function before<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () => reject(deadline.reason), { once: true })
    }),
  ])
}

function describe(error: unknown, deadline: AbortSignal, timeoutMs: number): string {
  if (deadline.aborted) return `no complete answer within ${timeoutMs / 1000} s`
  if (error instanceof TargetRefused) return `not sent: the URL ${error.message}`
  const { code, message } = error as NodeJS.ErrnoException
  return `no answer: ${code ?? message}`.slice(0, keptBytes)
}

function post(
  url: URL,
  addresses: readonly string[],
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<Answer> {
  const { request } = url.protocol === 'https:' ? https : http
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        protocol: url.protocol,
        hostname: hostOf(url),
        port: url.port,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        // A connection of its own, to these addresses only. Server name and Host stay the name.
        agent: false,
        lookup: (_name, options, done) => {
          const [{ address, family } = { address: '', family: 4 }] = found
          if (options.all === true) done(null, found)
          else done(null, address, family)
        },
        signal,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': `${serviceName}-Webhooks/1.0`,
        },
      },
      (answer) => {
        const { statusCode: status = 0, headers } = answer
        readBeginning(answer).then(
          (read) => resolve({ status, body: read, retryAfter: headers['retry-after'] }),
          reject,
        )
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Reads an answer to its end or to 64 KB, and closes its connection. */
async function readBeginning(answer: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= mostAnswerBytes) chunks.push(chunk)
    // Leaving the loop destroys the stream.
    else break
  }
  return Buffer.concat(chunks)
}
