import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { encodeBase58 } from '../../src/kernel/base58.js'

/** One measurement: requests per second, and the median and 99th percentile of the latency in ms. */
export interface Load {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

interface LoadCount {
  readonly latencies: number[]
  failed: number
}

const okHead = 'HTTP/1.1 200 OK'
const headEnd = '\r\n\r\n'
const signatureHead = encodeBase58(randomBytes(64)).slice(1, 78).padEnd(77, '1')
let serial = 0

/** Sends requests over several connections, one at a time on each. `next` returns the bytes of a whole request. */
export interface LoadPlan {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  readonly next: () => Buffer | string
}

/** Records tips with new signatures. */
export async function recordTips(url: string, connections: number, seconds: number): Promise<Load> {
  const body = bodyBytes()
  const head = Buffer.from(postHead(url, '/chain/tips/create', body().length))
  return sendRequests({ url, connections, seconds, next: () => Buffer.concat([head, body()]) })
}

/** The head of a POST with a JSON body of so many bytes. */
export function postHead(url: string, path: string, length: number, headers = ''): string {
  const { hostname } = new URL(url)
  return `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\n${headers}content-type: application/json\r\ncontent-length: ${length}${headEnd}`
}

/**
 * Loads a server for some seconds. It uses plain sockets and prepared bytes: the load generator shares the machine with the servers, and
 * a general load tool uses a whole core.
 */
export async function sendRequests({ url, connections, seconds, next }: LoadPlan): Promise<Load> {
  const { hostname, port } = new URL(url)
  const counts: LoadCount = { latencies: [], failed: 0 }
  const until = performance.now() + seconds * 1000
  await Promise.all(
    Array.from({ length: connections }, () => runConnection(hostname, Number(port), next, until, counts)),
  )
  const sorted = counts.latencies.sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { perSecond: sorted.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), failed: counts.failed }
}

/** Creates bodies of equal length with new signatures: base58 of 64 bytes whose last ten digits are a counter. */
function bodyBytes(): () => Buffer {
  const [creatorWallet, senderWallet] = [encodeBase58(randomBytes(32)), encodeBase58(randomBytes(32))]
  return () => {
    serial += 1
    const txSignature = `2${signatureHead}${String(serial).replaceAll('0', 'z').padStart(10, '1')}`
    return Buffer.from(JSON.stringify({ creatorWallet, tipAmount: 1_000_000_000, senderWallet, txSignature }))
  }
}

function runConnection(
  host: string,
  port: number,
  next: () => Buffer | string,
  until: number,
  counts: LoadCount,
): Promise<void> {
  return new Promise((done) => {
    const socket: Socket = connect(port, host)
    socket.setNoDelay(true)
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
      if (answer.startsWith(okHead)) counts.latencies.push(performance.now() - sentAt)
      else counts.failed += 1
      if (performance.now() < until) send()
      else socket.destroy()
    })
    socket.on('error', () => {
      counts.failed += 1
    })
    socket.on('close', () => done())
  })
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf(headEnd)
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, end))?.[1]
  return length !== undefined && answer.length >= end + headEnd.length + Number(length)
}
