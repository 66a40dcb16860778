import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

interface SocketAttack {
  /** Sent at once. */
  readonly first: string | Buffer
  /** Sent again and again, slowly. */
  readonly drip?: string
  /** The client closes its half after the first bytes, or all of it. */
  readonly after?: 'end' | 'destroy' | 'pause'
}

const post = 'POST /chain/tips/create HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
const get = 'GET /health HTTP/1.1\r\nHost: x\r\n'
const hello = Buffer.from(`16030100c8010000c40303${'5a'.repeat(32)}00002e130213031301c02b`, 'hex')

/** What clients send that do not speak HTTP as the service does. */
export const socketAttacks: Readonly<Record<string, SocketAttack>> = {
  'a slow head': { first: `${get}X-Slow: `, drip: 'a' },
  'a slow body': { first: `${post}Content-Length: 5000\r\n\r\n{`, drip: ' ' },
  'a slow chunk': { first: `${post}Transfer-Encoding: chunked\r\n\r\n`, drip: '1\r\n \r\n' },
  'half a head': { first: 'POST /auth/login HT' },
  'half a body': { first: `${post}Content-Length: 50\r\n\r\n{"a"` },
  'half a body, half closed': { first: `${post}Content-Length: 50\r\n\r\n{"a"`, after: 'end' },
  'half a body, closed': { first: `${post}Content-Length: 50\r\n\r\n{"a"`, after: 'destroy' },
  'a request, half closed': { first: `${get}\r\n`, after: 'end' },
  'an answer that is not read': {
    first: 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20),
    after: 'pause',
  },
  'nothing, half closed': { first: '', after: 'end' },
  'many headers': { first: `${get}${'a: b\r\n'.repeat(2500)}\r\n` },
  'large headers': { first: `${get}${`b: ${'c'.repeat(7000)}\r\n`.repeat(20)}\r\n` },
  'garbage after a request': { first: Buffer.concat([Buffer.from(`${get}\r\n`), Buffer.alloc(5000, 0xf5)]) },
  'many requests at once': { first: `${get}\r\n`.repeat(500), after: 'end' },
  'a WebSocket': {
    first: `${get}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  },
  'a WebSocket and frames': {
    first: `GET /chain/tips/stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x85abcd\x00\x00\x00`,
  },
  'a TLS hello': { first: hello },
  'HTTP/2': { first: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0' },
  'HTTP/0.9': { first: 'GET /\r\n' },
  'HTTP/1.0': { first: 'GET /health HTTP/1.0\r\n\r\n' },
  'no host': { first: 'GET /health HTTP/1.1\r\n\r\n' },
  CONNECT: { first: 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n' },
  'an unknown expectation': { first: `${post}Expect: the-unexpected\r\nContent-Length: 2\r\n\r\n{}` },
  'an expectation without a body': { first: `${post}Expect: 100-continue\r\nContent-Length: 9\r\n\r\n` },
  'length and chunks': {
    first: `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /ready HTTP/1.1\r\n\r\n`,
  },
  'a negative length': { first: `${post}Content-Length: -1\r\n\r\n` },
  'a huge length': { first: `${post}Content-Length: 99999999999999999999\r\n\r\n{}` },
  'a bad chunk': { first: `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n` },
  'a huge chunk extension': {
    first: `${post}Transfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\n{\r\n0\r\n\r\n`,
  },
  'NUL in a header': { first: `${get}X: a\0b\r\n\r\n` },
  'a folded header': { first: `${get}X: a\r\n b\r\n\r\n` },
  'bare line feeds': { first: 'GET /health HTTP/1.1\nHost: x\n\n' },
  'a target of raw bytes': { first: Buffer.from('GET /\xff\xfe?\x80 HTTP/1.1\r\nHost: x\r\n\r\n', 'latin1') },
  'an asterisk': { first: 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n' },
}

/** The service's own limits of head and body are 10 and 30 s, and of an idle connection 95 s. */
const mostOpenMs = 130_000
const dripMs = 1000
const mostKept = 20_000

/** What came on the connection, and whether the server closed it in its time. */
interface SocketEnd {
  readonly text: string
  readonly closed: boolean
}

/** Attacks with one connection, and waits until it is closed. */
export function attackSocket(url: string, { first, drip, after }: SocketAttack): Promise<SocketEnd> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let text = ''
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), dripMs)
    // One who does not read learns only then that the connection is closed.
    const late = setTimeout(() => {
      socket.resume()
      setTimeout(() => end(false), dripMs)
    }, mostOpenMs)
    const end = (closed: boolean): void => {
      clearInterval(dripping)
      clearTimeout(late)
      socket.destroy()
      resolve({ text, closed })
    }
    socket
      .on('error', () => undefined)
      .on('close', () => end(true))
      .on('end', () => end(true))
    socket.on('data', (bytes: Buffer) => {
      if (text.length < mostKept) text += bytes.toString('latin1')
    })
    socket.on('connect', () => {
      socket.write(first)
      if (after === 'end') socket.end()
      if (after === 'destroy') setImmediate(() => socket.destroy())
      if (after === 'pause') socket.pause()
    })
  })
}

/** What is wrong with answers on a connection, by their heads: a 5xx, or a refusal that is not JSON. */
export function faultOfSocket({ text, closed }: SocketEnd): string | undefined {
  const heads = text.match(/^HTTP\/1\.1 \d{3}[\s\S]*?\r\n\r\n/gm) ?? []
  for (const head of heads) {
    const status = Number(head.slice(9, 12))
    if (status >= 500 && status !== 503) return `status ${status}`
    if (status >= 400 && !/^content-type: application\/json/im.test(head))
      return `status ${status} without JSON`
  }
  return closed ? undefined : `still open after ${mostOpenMs / 1000} s`
}

/** Connections of other programs to this port. */
export function countConnections(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  const established = new RegExp(`^ *\\d+: \\w+:${port} \\w+:\\w+ 01 `)
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => established.test(line)).length
}
