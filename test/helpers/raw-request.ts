import { request as httpRequest, type IncomingMessage } from 'node:http'

/** An answer as it came. */
export interface Raw {
  readonly status: number
  readonly text: string
  readonly headers: IncomingMessage['headers']
}

/** A request with the target as it is written, which a URL parser would put right. */
export function requestRaw(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = httpRequest({ hostname, port, method, path, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          text: Buffer.concat(chunks).toString('utf8'),
          headers: answer.headers,
        }),
      )
    })
    sent.on('error', reject).end(body)
  })
}
