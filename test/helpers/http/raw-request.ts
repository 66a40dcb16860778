import { request as httpRequest, type IncomingMessage } from 'node:http'

/** An answer, unparsed. */
export interface Raw {
  readonly status: number
  readonly text: string
  readonly bytes: Buffer
  readonly headers: IncomingMessage['headers']
}

const timeoutMs = 60_000

/**
 * Sends a request whose target is not normalized by a URL parser. It uses `node:http` without keep-alive: `fetch` adds
 * headers, and pooled sockets look like leaks. The last byte of the body is sent once `held` resolves.
 */
export function requestRaw(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string | Uint8Array,
  held?: Promise<void>,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    // Node itself adds the length to some methods only, not to DELETE.
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = httpRequest(
      { hostname, port, method, path, headers: { ...length, ...headers }, agent: false, timeout: timeoutMs },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const { statusCode: status = 0, headers } = answer
          resolve({ status, text: bytes.toString('utf8'), bytes, headers })
        })
      },
    )
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer in ${timeoutMs} ms`)))
    sent.on('error', reject)
    if (held === undefined || body === undefined) sent.end(body)
    else {
      const bytes = Buffer.from(body)
      sent.write(bytes.subarray(0, -1))
      void held.then(() => sent.end(bytes.subarray(-1)))
    }
  })
}
