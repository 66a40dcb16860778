import { connect } from 'node:net'

/** One measurement: requests per second, and the median and 99th percentile of the latency in ms. */
export interface Load {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

const okHead = 'HTTP/1.1 200 OK'
const headEnd = '\r\n\r\n'

/** Sends requests over several connections, one at a time on each. `next` returns the bytes of a whole request. */
interface LoadPlan {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  readonly next: () => string
}

/** The bytes of a POST with a JSON body. */
export function postBytes(url: string, path: string, body: string): string {
  const { hostname } = new URL(url)
  return `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}${headEnd}${body}`
}

/**
 * Loads a server for some seconds. It uses plain sockets and prepared bytes: the load generator shares the machine with the servers, and
 * a general load tool uses a whole core.
 */
export async function sendRequests({ url, connections, seconds, next }: LoadPlan): Promise<Load> {
  const { hostname, port } = new URL(url)
  const latencies: number[] = []
  let failed = 0
  const until = performance.now() + seconds * 1000
  const one = () =>
    new Promise<void>((done) => {
      const socket = connect(Number(port), hostname).setNoDelay(true)
      let sentAt = 0
      let answer = ''
      function send(): void {
        answer = ''
        sentAt = performance.now()
        socket.write(next())
      }
      socket.on('connect', send)
      socket.on('data', (chunk) => {
        answer += chunk.toString('latin1')
        if (!isWhole(answer)) return
        if (answer.startsWith(okHead)) latencies.push(performance.now() - sentAt)
        else failed += 1
        if (performance.now() < until) send()
        else socket.destroy()
      })
      socket.on('error', () => {
        failed += 1
      })
      socket.on('close', () => done())
    })
  await Promise.all(Array.from({ length: connections }, one))
  const sorted = latencies.sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { perSecond: sorted.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), failed }
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf(headEnd)
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, end))?.[1]
  return length !== undefined && answer.length >= end + headEnd.length + Number(length)
}
